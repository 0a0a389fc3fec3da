/** File extensions of types that are sent without name. */
const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'text/plain': 'txt',
  'text/html': 'html',
  'text/csv': 'csv',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/json': 'json',
};

/** Default names by type. */
const defaultNames: Readonly<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'message/delivery-status': 'delivery-status.txt',
  'text/calendar': 'invitation.ics',
  'text/vcard': 'contact.vcf',
  'text/rfc822-headers': 'headers.txt',
};

/** Returns a name for an attachment without one; `index` is its position, from 0. */
export function getDefaultName(type: string, index: number): string {
  const [name, extension] = [
    Object.hasOwn(defaultNames, type) ? defaultNames[type] : undefined,
    Object.hasOwn(extensions, type) ? extensions[type] : undefined,
  ];
  return (
    name ?? `${/^(image|video|audio)\//.exec(type)?.[1] ?? 'attachment'}-${String(index + 1)}.${extension ?? 'bin'}`
  );
}
