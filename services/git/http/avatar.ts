import type { Reply } from '../../kit/http/respond.ts';

/** Generates the avatar of an account from the hash of its name. */
export function avatar(path: string): Reply {
  const hash = /^\/avatars\/([0-9a-f]{32})$/.exec(path)?.[1];
  if (hash === undefined) {
    return { status: 404 };
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
  const headers = {
    'Content-Type': 'image/svg+xml',
    'Cache-Control': 'public, max-age=86400',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  };
  return { status: 200, headers, body: text };
}
