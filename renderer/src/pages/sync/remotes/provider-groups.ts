import * as m from '#messages/sync';
import { formatList } from '../../../../../messages/format.ts';
import { compareNames } from '../../../../../services/contracts/compare-names.ts';
import type { SyncProvider } from '../../../../../services/contracts/sync/remotes.ts';
import { foldText, splitTerms } from '../../../state/search-text.ts';
import { getServerPathExamples } from '../../../state/server-platform.ts';
import { findKindTitle, groupFields } from './remote-kinds.ts';

/** Kinds of remotes with a common heading in the picker. */
export interface ProviderGroup {
  readonly title: string;
  readonly providers: readonly SyncProvider[];
}

/** Most used kinds, which are listed first. */
const commonTypes = ['smb', 'sftp', 'webdav', 'drive', 'onedrive', 'dropbox', 'iclouddrive', 'protondrive', 's3', 'b2'];

const groups: readonly (readonly [title: () => string, types: readonly string[]])[] = [
  [m.groupObjectStorage, ['azureblob', 'azurefiles', 'google cloud storage', 'netstorage', 'oracleobjectstorage']],
  [m.groupObjectStorage, ['qingstor', 'sia', 'storj', 'swift']],
  [m.groupServers, ['filefabric', 'ftp', 'hdfs', 'http', 'seafile']],
  [m.groupOtherRemotes, ['alias', 'archive', 'cache', 'chunker', 'combine', 'compress', 'crypt', 'hasher', 'union']],
];

/** Short descriptions by type. Other kinds are described by rclone's title alone. */
const descriptions: Readonly<Record<string, () => string>> = {
  alias: m.aboutAlias,
  azureblob: m.aboutAzureBlob,
  b2: m.aboutB2,
  box: m.aboutCloudDrive,
  combine: m.aboutCombine,
  compress: m.aboutCompress,
  crypt: m.aboutCrypt,
  drive: m.aboutGoogleDrive,
  dropbox: m.aboutCloudDrive,
  ftp: m.aboutFtp,
  'google photos': m.aboutGooglePhotos,
  'google cloud storage': m.aboutGoogleCloudStorage,
  hasher: m.aboutHasher,
  http: m.aboutHttp,
  iclouddrive: m.aboutCloudDrive,
  mega: m.aboutEncryptedDrive,
  filen: m.aboutEncryptedDrive,
  internxt: m.aboutEncryptedDrive,
  onedrive: m.aboutOneDrive,
  pcloud: m.aboutCloudDrive,
  protondrive: m.aboutEncryptedDrive,
  s3: m.aboutS3,
  seafile: m.aboutSeafile,
  sftp: m.aboutSftp,
  smb: m.aboutSmb,
  swift: m.aboutSwift,
  union: m.aboutUnion,
  webdav: m.aboutWebdav,
};

/** Returns the title of a kind of remote in the picker. */
export function getProviderTitle({ type, title }: SyncProvider): string {
  return findKindTitle(type) ?? title;
}

/** Returns a short description; for kinds without their own, rclone's longer title where it says more. */
export function getProviderDescription(provider: SyncProvider): string {
  return (Object.hasOwn(descriptions, provider.type) ? descriptions[provider.type] : undefined)?.() ?? '';
}

/** Lists what the set-up of a kind needs, such as address and password; empty when everything is optional. */
export function formatRequirements(provider: SyncProvider): string {
  if (provider.needsBrowser) return m.needsBrowserSignIn();
  const { first, more } = groupFields(provider.type, provider.fields, getServerPathExamples());
  const hasOwnFields = findKindTitle(provider.type) !== undefined;
  const needed = hasOwnFields ? first : [...first, ...more].filter(({ field }) => field.required);
  const labels = new Set(needed.map(({ plainLabel }) => plainLabel));
  return labels.size === 0 ? '' : m.needsFields({ fields: formatList([...labels], 'unit') });
}

/** Ranks a kind for a word: 3 for a prefix of its title or type, 2 when they contain it, 1 for its description. */
function getRank(provider: SyncProvider, word: string): number {
  const name = foldText(`${getProviderTitle(provider)} ${provider.type}`);
  if (name.startsWith(word) || provider.type.startsWith(word)) return 3;
  if (name.includes(word)) return 2;
  return foldText(`${provider.title} ${getProviderDescription(provider)}`).includes(word) ? 1 : 0;
}

/** Returns the kinds in groups; with words the matching ones in one group, best first. */
export function groupProviders(providers: readonly SyncProvider[], text: string): readonly ProviderGroup[] {
  const terms = splitTerms(text);
  if (terms.length > 0) {
    const matching = providers
      .map((provider) => ({ provider, rank: Math.min(...terms.map((word) => getRank(provider, word))) }))
      .filter(({ rank }) => rank > 0)
      .toSorted((a, b) => b.rank - a.rank);
    return matching.length === 0 ? [] : [{ title: m.matches(), providers: matching.map(({ provider }) => provider) }];
  }
  const common = commonTypes.flatMap((type) => providers.find((each) => each.type === type) ?? []);
  const others = providers
    .filter((provider) => !common.includes(provider))
    .toSorted((a, b) => compareNames(getProviderTitle(a), getProviderTitle(b)));
  const getGroup = ({ type }: SyncProvider) => groups.find(([, types]) => types.includes(type))?.[0] ?? m.groupCloud;
  const titles = [m.groupCloud, m.groupObjectStorage, m.groupServers, m.groupOtherRemotes];
  return [
    { title: m.oftenUsed(), providers: common },
    ...titles.map((title) => ({ title: title(), providers: others.filter((each) => getGroup(each) === title) })),
  ].filter((group) => group.providers.length > 0);
}
