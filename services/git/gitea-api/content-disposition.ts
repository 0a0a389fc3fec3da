/** A file's name as `Content-Disposition` has it. */
export function fileName(name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name)) return `filename=${name}`;
  return `filename="${name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}
