import type { ProviderField, SyncProvider } from '../../../../services/contracts/sync/remotes.ts';

/** What somebody is asked first about a kind of remote, in plain words. */
interface FieldWords {
  readonly name: string;
  readonly label: string;
  readonly help?: string;
  /** One of those that the engine names is chosen, rather than typed. */
  readonly isChosen?: true;
}
interface KindWords {
  readonly title: string;
  readonly fields: readonly FieldWords[];
}

const host: FieldWords = {
  name: 'host',
  label: 'Address',
  help: 'Its name or number in the network, such as nas or 192.168.1.10.',
};
const user: FieldWords = { name: 'user', label: 'User name' };
const password: FieldWords = { name: 'pass', label: 'Password' };

/** The kinds that a home has, the likeliest first. What they need no word for here is asked by the engine's own words. */
const kinds: Readonly<Record<string, KindWords>> = {
  smb: { title: 'NAS or Windows share (SMB)', fields: [host, user, password] },
  sftp: {
    title: 'Server or NAS by SSH (SFTP)',
    fields: [
      host,
      user,
      { ...password, help: 'Or a key instead.' },
      { name: 'key_file', label: 'Key file', help: 'On this computer, such as /home/ada/.ssh/id_ed25519.' },
    ],
  },
  webdav: {
    title: 'Nextcloud, ownCloud or another WebDAV',
    fields: [
      { name: 'url', label: 'Address', help: 'Such as https://cloud.example/remote.php/dav/files/ada.' },
      { name: 'vendor', label: 'What it is', isChosen: true },
      user,
      { ...password, help: 'Nextcloud: an app password, from Settings, Security.' },
    ],
  },
  ftp: { title: 'FTP server', fields: [host, user, password] },
  alias: {
    title: 'A folder under a short name',
    fields: [{ name: 'remote', label: 'Folder', help: 'Of this computer, such as /mnt/usb, or of another remote.' }],
  },
  crypt: {
    title: 'An encrypted folder of another remote',
    fields: [
      { name: 'remote', label: 'Where the encrypted files are', help: 'Such as drive:private.' },
      { name: 'password', label: 'Password', help: 'Keep a copy: without it nobody can read the files again.' },
    ],
  },
  drive: { title: 'Google Drive', fields: [] },
  onedrive: { title: 'OneDrive', fields: [] },
  dropbox: { title: 'Dropbox', fields: [] },
  iclouddrive: {
    title: 'iCloud Drive',
    fields: [
      { name: 'apple_id', label: 'Apple account' },
      { name: 'password', label: 'Password' },
    ],
  },
  protondrive: {
    title: 'Proton Drive',
    fields: [
      { name: 'username', label: 'User name' },
      { name: 'password', label: 'Password' },
      { name: '2fa', label: 'Code of the second factor', help: 'Where the account has one.' },
    ],
  },
  pcloud: { title: 'pCloud', fields: [] },
  mega: {
    title: 'MEGA',
    fields: [
      { name: 'user', label: 'E-mail address' },
      password,
      { name: '2fa', label: 'Code of the second factor', help: 'Where the account has one.' },
    ],
  },
  s3: {
    title: 'S3 storage (AWS, MinIO, Hetzner and others)',
    fields: [
      { name: 'provider', label: 'Whose', isChosen: true },
      { name: 'access_key_id', label: 'Access key' },
      { name: 'secret_access_key', label: 'Secret key' },
      { name: 'region', label: 'Region' },
      { name: 'endpoint', label: 'Address', help: 'Such as https://minio.home.example:9000. AWS needs none.' },
    ],
  },
  b2: {
    title: 'Backblaze B2',
    fields: [
      { name: 'account', label: 'Key ID' },
      { name: 'key', label: 'Application key' },
    ],
  },
};

/** The kinds most people look for, in order, how they are called, and which fields they are asked first. */
export const usualKinds: readonly (readonly [type: string, title: string, fields: readonly string[]])[] =
  Object.entries(kinds).map(([type, { title, fields }]) => [type, title, fields.map(({ name }) => name)]);

/** A field of the form, and how it is asked. */
export interface AskedField {
  readonly field: ProviderField;
  readonly label: string;
  readonly help: string;
  readonly isChosen: boolean;
}

/**
 * The fields of a kind in the order in which they are asked: what everybody fills in, and what stands behind a fold. Of a kind that
 * is not a usual one all stand in the first part that the engine does not take for advanced.
 */
export function askedOf(
  type: string,
  fields: readonly ProviderField[],
): {
  readonly first: readonly AskedField[];
  readonly more: readonly AskedField[];
  readonly rest: readonly AskedField[];
} {
  const known = kinds[type];
  const asked = fields.map((field): AskedField => {
    const words = known?.fields.find(({ name }) => name === field.name);
    return {
      field,
      label: labelOf(field, words?.label),
      help: words === undefined ? firstLine(field.help) : (words.help ?? ''),
      isChosen: field.kind === 'choice' || words?.isChosen === true,
    };
  });
  const rest = asked.filter(({ field }) => field.advanced);
  const plain = asked.filter(({ field }) => !field.advanced);
  if (known === undefined) return { first: plain, more: [], rest };
  const first = known.fields.flatMap(({ name }) => asked.filter(({ field }) => field.name === name));
  return {
    first,
    more: plain.filter((each) => !first.includes(each)),
    rest: rest.filter((each) => !first.includes(each)),
  };
}

/** What rclone calls `pass` has a word everywhere else. */
function labelOf({ name, required }: ProviderField, given: string | undefined): string {
  const known = { user: 'User name', pass: 'Password', url: 'Address' }[name];
  const words = given ?? known ?? name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  return required ? words : `${words} (optional)`;
}

/** The first line, which says what it is; those that follow are about special cases. */
export function firstLine(help: string): string {
  return help.split('\n', 1)[0] ?? '';
}

/** Whether what an engine's rule says goes for one provider of a kind: `AWS,Minio`, `!AWS` for all others, or nothing for all. */
export function appliesTo(rule: string, provider: string): boolean {
  if (rule === '') return true;
  return rule.replace(/^!/, '').split(',').includes(provider) !== rule.startsWith('!');
}

/** The fields that a kind asks for one provider of it, such as that of S3. */
export function fieldsFor({ fields }: SyncProvider, provider: string): readonly ProviderField[] {
  return fields.filter((field) => appliesTo(field.provider, provider));
}
