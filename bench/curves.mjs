export async function draw() {}
