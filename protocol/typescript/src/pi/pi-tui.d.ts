/** As much of pi's terminal library as is used; pi gives the real one to the extensions it loads. */
declare module "@earendil-works/pi-tui" {
  export class Text {
    constructor(text?: string, paddingX?: number, paddingY?: number);
    render(width: number): string[];
    invalidate(): void;
  }
}
