/** Media types by the end of a name, for text that has no mark of its own in its bytes. */
const typesByExtension: Readonly<Record<string, string>> = {
  ...{
    txt: 'text/plain',
    log: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    html: 'text/html',
    htm: 'text/html',
  },
  ...{ json: 'application/json', xml: 'application/xml', yml: 'application/yaml', yaml: 'application/yaml' },
  ...{ ics: 'text/calendar', svg: 'image/svg+xml', png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg' },
  ...{ gif: 'image/gif', webp: 'image/webp', pdf: 'application/pdf', zip: 'application/zip', mp4: 'video/mp4' },
};

/** Bytes a file is known by. */
const signatures: readonly (readonly [type: string, hex: string])[] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '474946383'],
  ['application/pdf', '255044462d'],
  ['application/zip', '504b0304'],
  ['application/gzip', '1f8b08'],
];

/** The longest name of a file, in characters, as in the peer. */
export const maxNameLength = 250;

/** A name without its path and control characters; `attachment.001` by its place (from 0) for what has none. */
export function toFileName(originalName: string, index: number): string {
  const lastSegment = originalName.split(/[/\\]/).at(-1) ?? '';
  const name = lastSegment.replace(/[\p{Cc}\u2028\u2029]+/gu, '').trim();
  return name === '' || name === '.' || name === '..' ? `attachment.${String(index + 1).padStart(3, '0')}` : name;
}

/** The media type of a file: what its sender says, where that says something, else what its bytes or its name tell. */
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
