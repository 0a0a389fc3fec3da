/** Endings of the types that programs send without a name. */
const endings: Readonly<Record<string, string>> = {
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

/** Parts that are called by what they are. */
const called: Readonly<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'message/delivery-status': 'delivery-status.txt',
  'text/calendar': 'invitation.ics',
  'text/vcard': 'contact.vcf',
  'text/rfc822-headers': 'headers.txt',
};

/** A name for a part that has none; `index` is its place among the parts, from 0. */
export function nameOf(type: string, index: number): string {
  const [name, ending] = [
    Object.hasOwn(called, type) ? called[type] : undefined,
    Object.hasOwn(endings, type) ? endings[type] : undefined,
  ];
  return name ?? `${/^(image|video|audio)\//.exec(type)?.[1] ?? 'attachment'}-${String(index + 1)}.${ending ?? 'bin'}`;
}
