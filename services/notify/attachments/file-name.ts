/** Media types by file extension, for formats without a signature. */
const typesByExtension: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  htm: 'text/html',
  json: 'application/json',
  xml: 'application/xml',
  yml: 'application/yaml',
  yaml: 'application/yaml',
  ics: 'text/calendar',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  zip: 'application/zip',
  mp4: 'video/mp4',
};

/** Signatures at the beginning of files. */
const signatures: readonly (readonly [type: string, hex: string])[] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '474946383'],
  ['application/pdf', '255044462d'],
  ['application/zip', '504b0304'],
  ['application/gzip', '1f8b08'],
];

/** Maximum length of a file name in characters, as in Apprise API. */
export const maxNameLength = 250;

/**
 * Returns a name without path and control characters; unnamed files are called `attachment.001` by their index (from
 * 0).
 */
export function toFileName(originalName: string, index: number): string {
  const lastSegment = originalName.split(/[/\\]/).at(-1) ?? '';
  const name = lastSegment.replace(/[\p{Cc}\u2028\u2029]+/gu, '').trim();
  return name === '' || name === '.' || name === '..' ? `attachment.${String(index + 1).padStart(3, '0')}` : name;
}

/**
 * Returns the media type of a file: the declared one if it is specific, otherwise that of its signature or extension.
 */
export function detectMediaType(declaredType: string, name: string, head: Uint8Array): string {
  const type = declaredType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^[\w.+-]+\/[\w.+-]+$/.test(type) && type !== 'application/octet-stream') return type;
  const hex = Buffer.from(head.subarray(0, 16)).toString('hex');
  const signature = signatures.find(([, mark]) => hex.startsWith(mark));
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return (
    signature?.[0] ??
    (Object.hasOwn(typesByExtension, extension) ? typesByExtension[extension] : undefined) ??
    'application/octet-stream'
  );
}
