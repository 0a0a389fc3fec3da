/** Formats a file name as a parameter of `Content-Disposition` (RFC 6266). */
export function formatFileName(name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name)) return `filename=${name}`;
  return `filename="${name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}
