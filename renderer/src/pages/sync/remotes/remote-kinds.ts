import * as m from '#messages/sync';
import type { PathExamples } from '../../../../../services/contracts/path-examples.ts';
import type { ProviderField, SyncProvider } from '../../../../../services/contracts/sync/remotes.ts';

/** Label and help of a field that is shown first. */
interface FieldText {
  readonly name: string;
  readonly label: () => string;
  readonly help?: (examples: PathExamples) => string;
  /** Shows a select field instead of a text field with suggestions. */
  readonly isSelect?: true;
}
interface KindText {
  readonly title: () => string;
  readonly fields: readonly FieldText[];
}

const host: FieldText = {
  name: 'host',
  label: m.address,
  help: m.hostHint,
};
const user: FieldText = {
  name: 'user',
  label: m.userName,
};
const password: FieldText = {
  name: 'pass',
  label: m.password,
};

/** Common kinds of remotes, most likely first. Fields without a text here use that of rclone. */
const kindTexts: Readonly<Record<string, KindText>> = {
  smb: {
    title: m.smbTitle,
    fields: [host, user, password],
  },
  sftp: {
    title: m.sftpTitle,
    fields: [
      host,
      user,
      {
        ...password,
        help: m.sftpPasswordHint,
      },
      {
        name: 'key_file',
        label: m.keyFile,
        help: ({ keyFile }) => m.keyFileHint({ keyFile }),
      },
    ],
  },
  webdav: {
    title: m.webdavTitle,
    fields: [
      {
        name: 'url',
        label: m.address,
        help: m.webdavAddressHint,
      },
      {
        name: 'vendor',
        label: m.whatItIs,
        isSelect: true,
      },
      user,
      {
        ...password,
        help: m.webdavPasswordHint,
      },
    ],
  },
  ftp: {
    title: m.ftpServer,
    fields: [host, user, password],
  },
  alias: {
    title: m.aliasTitle,
    fields: [
      {
        name: 'remote',
        label: m.folder,
        help: ({ drive }) => m.aliasFolderHint({ drive }),
      },
    ],
  },
  crypt: {
    title: m.cryptTitle,
    fields: [
      {
        name: 'remote',
        label: m.cryptFolder,
        help: m.cryptFolderHint,
      },
      {
        name: 'password',
        label: m.password,
        help: m.cryptPasswordHint,
      },
    ],
  },
  drive: {
    title: () => 'Google Drive',
    fields: [],
  },
  onedrive: {
    title: () => 'OneDrive',
    fields: [],
  },
  dropbox: {
    title: () => 'Dropbox',
    fields: [],
  },
  iclouddrive: {
    title: () => 'iCloud Drive',
    fields: [
      {
        name: 'apple_id',
        label: m.appleAccount,
      },
      {
        name: 'password',
        label: m.password,
      },
    ],
  },
  protondrive: {
    title: () => 'Proton Drive',
    fields: [
      {
        name: 'username',
        label: m.userName,
      },
      {
        name: 'password',
        label: m.password,
      },
      {
        name: '2fa',
        label: m.secondFactorCode,
        help: m.secondFactorHint,
      },
    ],
  },
  pcloud: { title: () => 'pCloud', fields: [] },
  mega: {
    title: () => 'MEGA',
    fields: [
      {
        name: 'user',
        label: m.eMailAddress,
      },
      password,
      {
        name: '2fa',
        label: m.secondFactorCode,
        help: m.secondFactorHint,
      },
    ],
  },
  s3: {
    title: m.s3Title,
    fields: [
      {
        name: 'provider',
        label: m.whose,
        isSelect: true,
      },
      {
        name: 'access_key_id',
        label: m.accessKey,
      },
      {
        name: 'secret_access_key',
        label: m.secretKey,
      },
      {
        name: 'region',
        label: m.region,
      },
      {
        name: 'endpoint',
        label: m.address,
        help: m.s3AddressHint,
      },
    ],
  },
  b2: {
    title: () => 'Backblaze B2',
    fields: [
      {
        name: 'account',
        label: m.keyID,
      },
      {
        name: 'key',
        label: m.applicationKey,
      },
    ],
  },
};

/** Returns the title of a common kind; undefined for others. */
export function findKindTitle(type: string): string | undefined {
  return Object.hasOwn(kindTexts, type) ? kindTexts[type]?.title() : undefined;
}

/** Common kinds in order, with their title and the names of their first fields. */
export const commonKinds: readonly (readonly [type: string, title: () => string, fields: readonly string[]])[] =
  Object.entries(kindTexts).map(([type, { title, fields }]) => [type, title, fields.map(({ name }) => name)]);

/** Field of the form with its label and help. */
export interface RemoteFormField {
  readonly field: ProviderField;
  readonly label: string;
  /** Label without the mark of an optional field. */
  readonly plainLabel: string;
  readonly help: string;
  readonly isSelect: boolean;
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
    const plainLabel = getFieldLabel(field, fieldText?.label());
    return {
      field,
      label: field.required ? plainLabel : m.optionalField({ label: plainLabel }),
      plainLabel,
      help: fieldText === undefined ? getFirstLine(field.help) : (fieldText.help?.(examples) ?? ''),
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
function getFieldLabel({ name }: ProviderField, text: string | undefined): string {
  const defaultLabel = { user: m.userName(), pass: m.password(), url: m.address() }[name];
  return text ?? defaultLabel ?? name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll('_', ' ');
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
