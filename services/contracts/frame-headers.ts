/**
 * Headers that forbid displaying a response in a frame, against clickjacking. Clients other than browsers ignore
 * them.
 */
export const frameDenyHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};
