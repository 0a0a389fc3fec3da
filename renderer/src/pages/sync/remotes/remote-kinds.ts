import type { PathExamples } from '../../../../../services/contracts/path-examples.ts';
import type { ProviderField, SyncProvider } from '../../../../../services/contracts/sync/remotes.ts';

/** Label and help of a field that is shown first. */
interface FieldText {
  readonly name: string;
  readonly label: string;
  /** `{keyFile}` and `{drive}` stand for example paths of the host. */
  readonly help?: string;
  /** Shows a select field instead of a text field with suggestions. */
  readonly isSelect?: true;
}
interface KindText {
  readonly title: string;
  readonly fields: readonly FieldText[];
}

const host: FieldText = {
  name: 'host',
  label: 'Address',
  help: 'Its name or number in the network, such as nas or 192.168.1.10.',
};
const user: FieldText = { name: 'user', label: 'User name' };
const password: FieldText = { name: 'pass', label: 'Password' };

/** Common kinds of remotes, most likely first. Fields without a text here use that of rclone. */
const kindTexts: Readonly<Record<string, KindText>> = {
  smb: { title: 'NAS or Windows share (SMB)', fields: [host, user, password] },
  sftp: {
    title: 'Server or NAS by SSH (SFTP)',
    fields: [
      host,
      user,
      { ...password, help: 'Or a key instead.' },
      { name: 'key_file', label: 'Key file', help: 'On this computer, such as {keyFile}.' },
    ],
  },
  webdav: {
    title: 'Nextcloud, ownCloud or another WebDAV',
    fields: [
      { name: 'url', label: 'Address', help: 'Such as https://cloud.example/remote.php/dav/files/ada.' },
      { name: 'vendor', label: 'What it is', isSelect: true },
      user,
      { ...password, help: 'Nextcloud: an app password, from Settings, Security.' },
    ],
  },
  ftp: { title: 'FTP server', fields: [host, user, password] },
  alias: {
    title: 'A folder under a short name',
    fields: [{ name: 'remote', label: 'Folder', help: 'Of this computer, such as {drive}, or of another remote.' }],
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
      { name: 'provider', label: 'Whose', isSelect: true },
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

/** Common kinds in order, with their title and the names of their first fields. */
export const commonKinds: readonly (readonly [type: string, title: string, fields: readonly string[]])[] =
  Object.entries(kindTexts).map(([type, { title, fields }]) => [type, title, fields.map(({ name }) => name)]);

/** Field of the form with its label and help. */
export interface RemoteFormField {
  readonly field: ProviderField;
  readonly label: string;
  readonly help: string;
  readonly isSelect: boolean;
}

function fillExamples(help: string, { keyFile, drive }: PathExamples): string {
  return help.replace('{keyFile}', keyFile).replace('{drive}', drive);
}

/**
 * Groups the fields of a kind into common and collapsed ones.
 * Kinds without texts show all fields that rclone does not mark as advanced.
 */
export function groupFields(
  type: string,
  fields: readonly ProviderField[],
  examples: PathExamples,
): {
  readonly first: readonly RemoteFormField[];
  readonly more: readonly RemoteFormField[];
  readonly rest: readonly RemoteFormField[];
} {
  const kindText = kindTexts[type];
  const formFields = fields.map((field): RemoteFormField => {
    const fieldText = kindText?.fields.find(({ name }) => name === field.name);
    return {
      field,
      label: getFieldLabel(field, fieldText?.label),
      help: fieldText === undefined ? getFirstLine(field.help) : fillExamples(fieldText.help ?? '', examples),
      isSelect: field.kind === 'choice' || fieldText?.isSelect === true,
    };
  });
  const rest = formFields.filter(({ field }) => field.advanced);
  const basic = formFields.filter(({ field }) => !field.advanced);
  if (kindText === undefined) return { first: basic, more: [], rest };
  const first = kindText.fields.flatMap(({ name }) => formFields.filter(({ field }) => field.name === name));
  return {
    first,
    more: basic.filter((each) => !first.includes(each)),
    rest: rest.filter((each) => !first.includes(each)),
  };
}

/** Returns the label of a field, with a readable name for `pass` and others. */
function getFieldLabel({ name, required }: ProviderField, text: string | undefined): string {
  const defaultLabel = { user: 'User name', pass: 'Password', url: 'Address' }[name];
  const baseLabel = text ?? defaultLabel ?? name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  return required ? baseLabel : `${baseLabel} (optional)`;
}

/** Returns the first line of a help text; further lines describe special cases. */
export function getFirstLine(help: string): string {
  return help.split('\n', 1)[0] ?? '';
}

/** Checks that a provider rule of rclone applies: `AWS,Minio`, `!AWS` for all others, or empty for all. */
export function appliesTo(rule: string, provider: string): boolean {
  if (rule === '') return true;
  return rule.replace(/^!/, '').split(',').includes(provider) !== rule.startsWith('!');
}

/** Returns the fields of a kind for one provider, such as an S3 provider. */
export function getProviderFields({ fields }: SyncProvider, provider: string): readonly ProviderField[] {
  return fields.filter((field) => appliesTo(field.provider, provider));
}
