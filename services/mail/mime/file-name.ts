import { findExtension } from '../../kit/file-type.ts';

/** Default names by type. */
const defaultNames: Readonly<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'message/delivery-status': 'delivery-status.txt',
  'text/calendar': 'invitation.ics',
  'text/vcard': 'contact.vcf',
  'text/rfc822-headers': 'headers.txt',
};

/** Returns a name for an attachment without one; `index` is its position, from 0. */
export async function getDefaultName(type: string, index: number): Promise<string> {
  const name = Object.hasOwn(defaultNames, type) ? defaultNames[type] : undefined;
  if (name !== undefined) return name;
  const kind = /^(image|video|audio)\//.exec(type)?.[1] ?? 'attachment';
  return `${kind}-${String(index + 1)}.${(await findExtension(type)) ?? 'bin'}`;
}
