import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { everyone, type Grant, type Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { findCommandOption } from '../domain/command-options.ts';
import { coversFolder, type LocationGrant } from '../domain/grant-coverage.ts';
import { hasDotSegments, parseLocation, toGrantResource, joinLocation } from '../domain/location.ts';
import { CallError } from './call-error.ts';
import { forAll, harmlessConfig, harmlessFilter, plainName, settableBlocks, type CallRule } from './calls.ts';
import type { Input } from './input.ts';

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
const special = new Set(['_async', '_group', '_config', '_filter']);

/** Checks permissions before a call reaches the engine. */
export class Access {
  readonly #accounts: Context['accounts'];

  constructor(accounts: Context['accounts']) {
    this.#accounts = accounts;
  }

  caller({ account, role, limited, credentialId: token = '' }: Identity): Caller {
    if (limited === true) return { account: `${account}/${token}`, all: false, limited: { account, token } };
    return { account, all: role === 'admin' };
  }

  /** Returns true if the account has a grant on any location. */
  async mayEnter(caller: Caller): Promise<boolean> {
    if (caller.all) return true;
    const lists = await this.#lists(caller);
    return lists.every(({ own, everybodys }) =>
      [...own, ...everybodys].some(({ permission }) => permission !== 'none'),
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
    if (forAll.has(path)) return {};
    if (rule.places === undefined) throw new CallError(403, `"${path}" is for administrators`);
    const places = rule.places;
    const known = new Set([
      ...places.flatMap(({ fs, remote }) => [fs, ...(remote === undefined ? [] : [remote])]),
      ...(rule.keys ?? []),
    ]);
    const odd = Object.keys(input).find((key) => !special.has(key) && !known.has(key));
    if (odd !== undefined) throw new CallError(403, `only administrators may give "${odd}"`);
    const checked: Input = { ...input };
    if (Object.hasOwn(input, '_config')) checked['_config'] = onlyKeys(input['_config'], harmlessConfig);
    if (Object.hasOwn(input, '_filter')) checked['_filter'] = onlyKeys(input['_filter'], harmlessFilter);
    for (const { fs, remote, need } of places) {
      // The engine itself reports missing values and wrong types.
      if (typeof input[fs] !== 'string') {
        if (Object.hasOwn(input, fs) && typeof input[fs] === 'object') throw refusal(fs);
        continue;
      }
      const isTree = need === 'write' && fs !== 'srcFs' && writesTrees.has(path);
      checked[fs] = await (isTree ? this.tree(caller, input[fs]) : this.place(caller, input[fs], need));
      const below = remote === undefined ? '' : input[remote];
      if (typeof below === 'string' && below !== '') await this.place(caller, joinLocation(input[fs], below), need);
    }
    return checked;
  }

  /**
   * Checks a location that receives whole folders, including its links, because the engine writes through them.
   * @throws CallError 403
   */
  async tree(caller: Caller, text: string): Promise<string> {
    const real = await this.place(caller, text, 'write');
    if (!caller.all && parseLocation(real, process.platform === 'win32').kind === 'local') {
      for await (const link of linksIn(real)) await this.place(caller, link, 'write');
    }
    return real;
  }

  /** Checks a location and returns it with its real path. @throws CallError 403 */
  async place(caller: Caller, text: string, need: 'read' | 'write'): Promise<string> {
    if (caller.all) return text;
    const place = parseLocation(text, process.platform === 'win32');
    if (place.kind === 'inline') throw refusal(text);
    if (hasDotSegments(place.path)) throw refusal(text);
    const real = place.kind === 'local' ? { ...place, path: await realPlace(place.path) } : place;
    const resource = toGrantResource(real);
    const lists = await this.#lists(caller);
    if (!lists.every(({ own, everybodys }) => coversFolder(own, everybodys, resource, need))) throw refusal(text);
    return real.kind === 'local' ? real.path : text;
  }

  /** Returns the lists of grants that must all allow an operation: those of a token and those of its account. */
  async #lists({ account, limited }: Caller): Promise<readonly GrantLists[]> {
    const found = await this.#accounts.find(limited?.account ?? account);
    const [own, everybodys] = [onSync(found?.grants), onSync((await this.#accounts.find(everyone))?.grants)];
    if (limited === undefined) return [{ own, everybodys }];
    const token = (await this.#accounts.tokens(limited.account)).find(({ id }) => id === limited.token);
    const scope = { own: onSync(token?.scopes), everybodys: [] };
    return found?.role === 'admin' ? [scope] : [scope, { own, everybodys }];
  }
}

interface GrantLists {
  readonly own: readonly LocationGrant[];
  readonly everybodys: readonly LocationGrant[];
}

function onSync(grants: readonly Grant[] = []): readonly LocationGrant[] {
  return grants.filter(({ service }) => service === 'sync');
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

function refusal(place: string): CallError {
  return new CallError(403, `this account has no grant on ${JSON.stringify(place)}`);
}

/** Parses options and rejects those that are not allowed. */
function onlyKeys(given: unknown, allowed: ReadonlySet<string>): unknown {
  let options: unknown = given;
  if (typeof given === 'string') {
    try {
      options = JSON.parse(given);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new CallError(400, 'options must be an object or JSON of one');
    }
  }
  if (typeof options !== 'object' || options === null) throw new CallError(400, 'options must be an object');
  const odd = Object.keys(options).find((key) => !allowed.has(plainName(key)));
  if (odd !== undefined) throw new CallError(403, `only administrators may give the option "${odd}"`);
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
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code !== 'ENOENT') throw refusal(path);
    const isLink = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isLink || dirname(path) === path) throw refusal(path);
    return join(await realPlace(dirname(path)), basename(path));
  }
}
