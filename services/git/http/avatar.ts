import type { ServerResponse } from 'node:http';

/** Generates the avatar of an account from the hash of its name. */
export function avatar(response: ServerResponse, path: string): void {
  const hash = /^\/avatars\/([0-9a-f]{32})$/.exec(path)?.[1];
  if (hash === undefined) {
    response.writeHead(404, { 'Content-Length': 0 }).end();
    return;
  }
  const hue = Number.parseInt(hash.slice(0, 4), 16) % 360;
  const cells = [...hash.slice(4, 19)].flatMap((digit, index) => {
    if (Number.parseInt(digit, 16) % 2 === 1) return [];
    const column = Math.floor(index / 5);
    // The right half mirrors the left one.
    return [...new Set([column, 4 - column])].map((x) => `<rect x="${x}" y="${index % 5}" width="1" height="1"/>`);
  });
  const attributes = `xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 7 7" fill="hsl(${hue} 45% 45%)"`;
  const background = '<rect x="-1" y="-1" width="7" height="7" fill="#eef1f4"/>';
  const text = `<svg ${attributes}>${background}${cells.join('')}</svg>`;
  response.writeHead(200, {
    'Content-Type': 'image/svg+xml',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'public, max-age=86400',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
  response.end(text);
}
