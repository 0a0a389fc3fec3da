import * as texts from '#messages/notify-texts';
import * as m from '#messages/notify-problems';
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { NotifyKeyName } from '../../contracts/notify/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, ImportResult } from '../../contracts/service.ts';
import type { ConfigurationFormat } from '../domain/configuration.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { readKey } from '../keys/read-key.ts';
import type { ConfigurationStore, WrittenConfiguration } from '../store/configurations.ts';
import { configurationLimit } from '../wire/notify.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Configuration file in the folder. Its key is unknown if the file name is an unknown hash. */
interface StoredFile extends WrittenConfiguration {
  readonly key: string | undefined;
  /** Relative to the folder. */
  readonly file: string;
}

interface ImportDependencies {
  readonly store: ConfigurationStore;
  readonly engine: EngineDestinations;
  readonly clock: Pick<Clock, 'now'>;
  readonly environment: Environment;
}

/** Default of SECRET_KEY in Apprise API. */
const defaultSalt = '+reua88v8rs4j!bcfdtinb-f0edxazf!$x_q1g7jtgckxd7gi=';
/** Common keys. */
const defaultKeys = ['apprise', 'aggregator', 'default', 'homeport', 'notify'];
const maxFiles = 10_000;
const gunzipAsync = promisify(gunzip);
const formatsByExtension: Readonly<Record<string, ConfigurationFormat>> = {
  cfg: 'text',
  yml: 'yaml',
  text: 'text',
  yaml: 'yaml',
};

/**
 * Imports the configurations of an Apprise API: `KEY.cfg` (TEXT) and `KEY.yml` of its "simple" store; of its "hash"
 * store, gzip files under the SHA-224 of SECRET_KEY and key, with two digits as folder. Keys are found by hashing the
 * common ones and those of the environment variable `APPRISE_KEYS` (separated by commas). Existing keys are not
 * changed.
 *
 * @throws Problem `notify.no_store` (404) for a folder without configurations.
 */
export async function takeOverAppriseApi(
  folder: string,
  { store, engine, clock, environment }: ImportDependencies,
  { dryRun = false }: { readonly dryRun?: boolean | undefined } = {},
): Promise<ImportResult> {
  const keysByHash = computeKeyHashes(environment);
  const notes: string[] = [];
  const configurations = await findConfigurations(folder, keysByHash, notes);
  if (configurations.length === 0 && notes.length === 0) {
    throw new Problem('notify.no_store', 404, m.importEmpty({ folder }));
  }
  let imported = 0;
  for (const { key: keyFromName, file, text, format } of configurations) {
    const key = keyFromName ?? `imported-${createHash('sha256').update(file).digest('hex').slice(0, 8)}`;
    const existing = await store.find(key);
    if (existing !== undefined) {
      notes.push(existing.text === text ? texts.importSameKey({ key }) : texts.importOtherKey({ key }));
      continue;
    }
    const { entries, skipped } = await readKey({ text, format }, engine);
    const isTagged = entries.some(({ tags }) => tags.length > 0);
    if (!dryRun) {
      await store.save(key, { text, format }, clock.now());
      // In Apprise API, a call without a tag selects only untagged destinations.
      if (isTagged) await store.saveOptions(key, NotifyKeyOptions.parse({ withoutTag: 'untagged' }), clock.now());
    }
    imported += 1;
    const counted = { key, count: entries.length };
    notes.push(isTagged ? texts.importedTaggedKey(counted) : texts.importedKey(counted));
    if (keyFromName === undefined) notes.push(texts.importedHashedKey({ key, file }));
    notes.push(...skipped.map(({ line, reason }) => texts.importedLineIgnored({ key, line: String(line), reason })));
  }
  const values = { count: imported };
  return { settings: {}, notes: [dryRun ? texts.importPlanned(values) : texts.imported(values), ...notes] };
}

/** Formats the note about a file that is not imported. */
type Note = (values: { readonly file: string }) => string;

function computeKeyHashes(environment: Environment): ReadonlyMap<string, string> {
  const listed = (environment['APPRISE_KEYS'] ?? '').split(/[\s,]+/);
  const keys = [...defaultKeys, environment['APPRISE_DEFAULT_CONFIG_ID'] ?? '', ...listed];
  const salts = [defaultSalt, environment['SECRET_KEY'] ?? ''];
  const hash = (salt: string, key: string): string =>
    createHash('sha224')
      .update(salt + key)
      .digest('hex');
  return new Map(
    salts.flatMap((salt) =>
      keys.filter((key) => NotifyKeyName.safeParse(key).success).map((key) => [hash(salt, key), key]),
    ),
  );
}

/** Finds the configurations of a folder. Reasons for unreadable files are added to `notes`. */
async function findConfigurations(
  folder: string,
  keysByHash: ReadonlyMap<string, string>,
  notes: string[],
): Promise<readonly StoredFile[]> {
  const configurations: StoredFile[] = [];
  const addFile = async (file: string, key: string | undefined, format: ConfigurationFormat, isCompressed: boolean) => {
    const text = await readText(join(folder, file), isCompressed);
    if (typeof text === 'string') configurations.push({ file, key, format, text });
    else notes.push(text.note({ file }));
  };
  for (const name of await listFolder(folder)) {
    const [, key = '', extension = ''] = /^([A-Za-z0-9_-]{1,128})\.(cfg|yml)$/.exec(name) ?? [];
    const format = formatsByExtension[extension];
    if (format !== undefined) await addFile(name, key, format, false);
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    for (const innerName of await listFolder(join(folder, name))) {
      const [, hashRest = '', packedExtension = ''] = /^([0-9a-f]{54})\.(text|yaml)$/.exec(innerName) ?? [];
      const packedFormat = formatsByExtension[packedExtension];
      if (packedFormat !== undefined)
        await addFile(join(name, innerName), keysByHash.get(name + hashRest), packedFormat, true);
    }
  }
  return configurations;
}

async function listFolder(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort().slice(0, maxFiles);
  } catch (error) {
    const code = (error as Partial<NodeJS.ErrnoException>).code ?? '';
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return [];
    throw error;
  }
}

/**
 * Reads a file. Returns a note if it cannot be read. Links are not followed, because they may lead out of the
 * folder.
 */
async function readText(path: string, isCompressed: boolean): Promise<string | { readonly note: Note }> {
  try {
    const stat = await lstat(path);
    if (!stat.isFile()) return { note: texts.importNotAFile };
    if (stat.size > configurationLimit * 4) return { note: texts.importTooLarge };
    const bytes = await readFile(path);
    const content = isCompressed ? await gunzipAsync(bytes, { maxOutputLength: configurationLimit * 4 }) : bytes;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return text.length > configurationLimit ? { note: texts.importTooLarge } : text;
  } catch (error) {
    if (error instanceof TypeError) return { note: texts.importNotText };
    if (error instanceof Error && 'code' in error) {
      const code = String(error.code);
      return { note: ({ file }) => texts.importUnreadable({ file, code }) };
    }
    throw error;
  }
}
