import * as m from '#messages/sync-problems';
import { realpathSync } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { hasWindowsPaths, listProcessFolders } from '../../kit/platform/file-systems.ts';
import { everyone, type Grant, type Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { findCommandOption } from '../domain/command-options.ts';
import { coversFolder, type LocationGrant } from '../domain/grant-coverage.ts';
import {
  hasDotSegments,
  joinLocation,
  normalizeGrantPattern,
  parseLocation,
  toGrantResource,
  type Location,
} from '../domain/location.ts';
import { normalizeWindowsPath, splitPattern } from '../domain/windows-path.ts';
import { CallError } from './call-error.ts';
import {
  callsForAll,
  harmlessConfig,
  harmlessFilter,
  normalizeOptionName,
  settableBlocks,
  type CallRule,
} from './calls.ts';
import type { Input } from './input.ts';
import { isOwnShare } from './own-shares.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/** Caller of the rclone API. */
export interface Caller {
  /** Owner of the caller's jobs: a limited token has its own. */
  readonly account: string;
  /** The limited token with its account. */
  readonly limited?: { readonly account: string; readonly token: string };
  /** True for administrators and the host itself, which may do everything. */
  readonly all: boolean;
}

const writesTrees = new Set(['sync/sync', 'sync/copy', 'sync/move', 'operations/uploadfile']);
const commonParameters = new Set(['_async', '_group', '_config', '_filter']);

/** Checks permissions before a call reaches the engine. */
export class Access {
  readonly #accounts: Context['accounts'];
  /**
   * Denies the data of Homeport, with which an account would become administrator, and the running programs, whose
   * environment contains secrets. Only a grant that names a folder in them allows it.
   */
  readonly #deniedToAll: readonly LocationGrant[];
  readonly #platform: NodeJS.Platform;

  constructor({ accounts, files }: Pick<Context, 'accounts' | 'files'>, platform: NodeJS.Platform = currentPlatform) {
    this.#accounts = accounts;
    this.#platform = platform;
    this.#deniedToAll = [dirname(realpathSync.native(files)), ...listProcessFolders(platform)].map((path) => ({
      resource: `${toGrantResource({ kind: 'local', path }, platform)}*`,
      permission: 'none',
    }));
  }

  caller({ account, role, limited, credentialId: token = '' }: Identity): Caller {
    if (limited === true) return { account: `${account}/${token}`, all: false, limited: { account, token } };
    return { account, all: role === 'admin' };
  }

  /** Returns true if the account has a grant on any location. */
  async hasAnyGrant(caller: Caller): Promise<boolean> {
    if (caller.all) return true;
    const lists = await this.#getGrantLists(caller);
    return lists.every(({ accountGrants, sharedGrants }) =>
      [...accountGrants, ...sharedGrants].some(({ permission }) => permission !== 'none'),
    );
  }

  /**
   * Checks the input of a call and returns it with resolved locations.
   * @throws CallError 403 if the call is denied to this account or to all accounts.
   */
  async check(caller: Caller, path: string, rule: CallRule, input: Input): Promise<Input> {
    const command = findCommandOption(input);
    if (command !== undefined) throw new CallError(403, `"${command}" would run a program here, which is never done`);
    if (path === 'options/set') {
      const block = Object.keys(input).find(
        (name) => name !== 'fs' && knownBlocks.has(name) && !settableBlocks.has(name),
      );
      if (block !== undefined) throw new CallError(403, `options of the block "${block}" cannot be set here`);
    }
    if (caller.all) return input;
    if (callsForAll.has(path)) return {};
    if (rule.locations === undefined) throw new CallError(403, `"${path}" is for administrators`);
    const locations = rule.locations;
    const knownParameters = new Set([
      ...locations.flatMap(({ fs, remote }) => [fs, ...(remote === undefined ? [] : [remote])]),
      ...(rule.keys ?? []),
    ]);
    const unknownKey = Object.keys(input).find((key) => !commonParameters.has(key) && !knownParameters.has(key));
    if (unknownKey !== undefined) throw new CallError(403, `only administrators may give "${unknownKey}"`);
    const checked: Input = { ...input };
    if (Object.hasOwn(input, '_config')) checked['_config'] = onlyKeys(input['_config'], harmlessConfig);
    if (Object.hasOwn(input, '_filter')) checked['_filter'] = onlyKeys(input['_filter'], harmlessFilter);
    for (const { fs, remote, need } of locations) {
      // The engine itself reports missing values and wrong types.
      if (typeof input[fs] !== 'string') {
        if (Object.hasOwn(input, fs) && typeof input[fs] === 'object') throw toRefusal(fs);
        continue;
      }
      const isTree = need === 'write' && fs !== 'srcFs' && writesTrees.has(path);
      checked[fs] = await (isTree ? this.checkTree(caller, input[fs]) : this.checkLocation(caller, input[fs], need));
      const remotePath = remote === undefined ? '' : input[remote];
      if (typeof remotePath === 'string' && remotePath !== '')
        await this.checkLocation(caller, joinLocation(input[fs], remotePath), need);
    }
    return checked;
  }

  /**
   * Checks a location that receives whole folders, including its links, because the engine writes through them.
   * @throws CallError 403
   */
  async checkTree(caller: Caller, text: string): Promise<string> {
    const realLocation = await this.checkLocation(caller, text, 'write');
    if (!caller.all && parseLocation(realLocation, hasWindowsPaths(this.#platform)).kind === 'local') {
      for await (const link of linksIn(realLocation)) await this.checkLocation(caller, link, 'write');
    }
    return realLocation;
  }

  /** Checks a location with everything in it and returns it with its real path. @throws CallError 403 */
  checkLocation(caller: Caller, text: string, need: 'read' | 'write'): Promise<string> {
    return this.#check(caller, text, need, () => this.#deniedToAll);
  }

  /** Checks a folder whose entries are listed, without those of its folders. @throws CallError 403 */
  checkListing(caller: Caller, text: string): Promise<string> {
    return this.#check(caller, text, 'read', (resource) =>
      this.#deniedToAll.filter((denied) => resource.startsWith(denied.resource.slice(0, -1))),
    );
  }

  async #check(
    caller: Caller,
    text: string,
    need: 'read' | 'write',
    getDenied: (resource: string) => readonly LocationGrant[],
  ): Promise<string> {
    if (caller.all) return text;
    const windows = hasWindowsPaths(this.#platform);
    const location = parseLocation(text, windows);
    if (location.kind === 'inline' || hasDotSegments(location.path)) throw toRefusal(text);
    const isCovered = await this.#createGrantCheck(caller, need, getDenied);
    if (location.kind === 'remote') {
      if (!isCovered(location)) throw toRefusal(text);
      return text;
    }
    // Resolving a network folder signs in to its server, so an account without a grant must not cause it.
    if (windows && location.path.startsWith('//') && (!isCovered(location) || (await isOwnShare(location.path))))
      throw toRefusal(text);
    const realPath = await resolveLocation(location.path);
    // A drive can lead to a share.
    if (windows && (await isOwnShare(normalizeWindowsPath(realPath) ?? ''))) throw toRefusal(text);
    if (!isCovered({ kind: 'local', path: realPath })) throw toRefusal(text);
    return realPath;
  }

  /** Returns a check whether all lists of grants allow a location. */
  async #createGrantCheck(
    caller: Caller,
    need: 'read' | 'write',
    getDenied: (resource: string) => readonly LocationGrant[],
  ): Promise<(location: Exclude<Location, { readonly kind: 'inline' }>) => boolean> {
    const lists = await this.#getGrantLists(caller);
    return (location) => {
      const resource = toGrantResource(location, this.#platform);
      return lists.every(({ accountGrants, sharedGrants }) =>
        coversFolder([...accountGrants, ...getDenied(resource)], sharedGrants, resource, need),
      );
    };
  }

  /** Returns the lists of grants that must all allow an operation: those of a token and those of its account. */
  async #getGrantLists({ account, limited }: Caller): Promise<readonly GrantLists[]> {
    const owner = await this.#accounts.find(limited?.account ?? account);
    const filterGrants = (grants?: readonly Grant[]): Promise<readonly LocationGrant[]> =>
      filterSyncGrants(grants, this.#platform);
    const accountGrants = await filterGrants(owner?.grants);
    const sharedGrants = await filterGrants((await this.#accounts.find(everyone))?.grants);
    if (limited === undefined) return [{ accountGrants, sharedGrants }];
    const token = (await this.#accounts.tokens(limited.account)).find(({ id }) => id === limited.token);
    const scope = { accountGrants: await filterGrants(token?.scopes), sharedGrants: [] };
    return owner?.role === 'admin' ? [scope] : [scope, { accountGrants, sharedGrants }];
  }
}

interface GrantLists {
  readonly accountGrants: readonly LocationGrant[];
  readonly sharedGrants: readonly LocationGrant[];
}

async function filterSyncGrants(
  grants: readonly Grant[] = [],
  platform: NodeJS.Platform,
): Promise<readonly LocationGrant[]> {
  const syncGrants = grants.filter(({ service }) => service === 'sync');
  return await Promise.all(
    syncGrants.map(async (grant) => {
      const resource = normalizeGrantPattern(grant.resource, platform);
      return { ...grant, resource: hasWindowsPaths(platform) ? await expandShortNames(resource, platform) : resource };
    }),
  );
}

/**
 * Replaces the short names of MS-DOS, such as `PROGRA~1`, in the folder of a pattern: paths are compared with their long
 * names. A folder that does not exist keeps its spelling.
 */
async function expandShortNames(pattern: string, platform: NodeJS.Platform): Promise<string> {
  const { folder, rest } = splitPattern(pattern);
  if (!/^[a-z]:.*~\d/i.test(folder)) return pattern;
  const path = await realpath(folder).catch(() => undefined);
  if (path === undefined) return pattern;
  return `${toGrantResource({ kind: 'local', path }, platform)}${rest}`;
}

const knownBlocks = new Set([
  'rc',
  'log',
  'sftp',
  'webdav',
  'proxy',
  'ftp',
  's3',
  'main',
  'restic',
  'nfs',
  'http',
  'filter',
  'vfs',
  'mount',
  'dlna',
  'metrics',
]);

function toRefusal(location: string): CallError {
  return new CallError(403, `this account has no grant on ${JSON.stringify(location)}`, () => m.noGrant({ location }));
}

/** Parses options and rejects those that are not allowed. */
function onlyKeys(input: unknown, allowed: ReadonlySet<string>): unknown {
  const toError = (): CallError => new CallError(400, 'options must be an object or JSON of one');
  const options = typeof input === 'string' ? parseJsonOrThrow(input, toError) : input;
  if (typeof options !== 'object' || options === null) throw new CallError(400, 'options must be an object');
  const unknownKey = Object.keys(options).find((key) => !allowed.has(normalizeOptionName(key)));
  if (unknownKey !== undefined) throw new CallError(403, `only administrators may give the option "${unknownKey}"`);
  return options;
}

async function* linksIn(folder: string): AsyncGenerator<string> {
  // The engine cannot read unreadable folders either.
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) yield path;
    else if (entry.isDirectory()) yield* linksIn(path);
  }
}

/** Resolves a path; missing parts remain unchanged. @throws CallError 403 for a link without a target. */
async function resolveLocation(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code !== 'ENOENT') throw toRefusal(path);
    const isLink = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isLink || dirname(path) === path) throw toRefusal(path);
    return join(await resolveLocation(dirname(path)), basename(path));
  }
}
