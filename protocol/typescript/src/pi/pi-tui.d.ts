/** The used part of pi's terminal library; pi provides the library to the extensions it loads. */
declare module "@earendil-works/pi-tui" {
  export class Text {
    constructor(text?: string, paddingX?: number, paddingY?: number);
    render(width: number): string[];
    invalidate(): void;
  }
}
