import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { everyone, type Grant, type Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { commandIn } from '../domain/commands.ts';
import { coversWhole, type PlaceGrant } from '../domain/coverage.ts';
import { climbs, readPlace, resourceOf, within } from '../domain/place.ts';
import { CallError } from './call-error.ts';
import { forAll, harmlessConfig, harmlessFilter, plainName, settableBlocks, type CallRule } from './calls.ts';
import type { Input } from './input.ts';

/** Who calls. */
export interface Caller {
  /** Whose its jobs are: of a token that has only some of an account's rights, its own. */
  readonly account: string;
  /** Such a token, and the account it is of. */
  readonly limited?: { readonly account: string; readonly token: string };
  /** Everything: administrators, and the host itself. */
  readonly all: boolean;
}

const writesTrees = new Set(['sync/sync', 'sync/copy', 'sync/move', 'operations/uploadfile']);
const special = new Set(['_async', '_group', '_config', '_filter']);

/** Decides who may do what, before anything reaches the engine. */
export class Access {
  readonly #accounts: Context['accounts'];

  constructor(accounts: Context['accounts']) {
    this.#accounts = accounts;
  }

  caller({ account, role, limited, credentialId: token = '' }: Identity): Caller {
    if (limited === true) return { account: `${account}/${token}`, all: false, limited: { account, token } };
    return { account, all: role === 'admin' };
  }

  /** Whether the account may use the service at all: it has a grant on some place. */
  async mayEnter(caller: Caller): Promise<boolean> {
    if (caller.all) return true;
    const lists = await this.#lists(caller);
    return lists.every(({ own, everybodys }) =>
      [...own, ...everybodys].some(({ permission }) => permission !== 'none'),
    );
  }

  /**
   * The input as the engine may get it: of accounts that do not administrate, places are the real ones that were checked.
   * @throws CallError 403 for what this account may not do, and for what nobody may.
   */
  async check(caller: Caller, path: string, rule: CallRule, input: Input): Promise<Input> {
    const command = commandIn(input);
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
      // What is missing or of a wrong type the engine words itself.
      if (typeof input[fs] !== 'string') {
        if (Object.hasOwn(input, fs) && typeof input[fs] === 'object') throw refusal(fs);
        continue;
      }
      const isTree = need === 'write' && fs !== 'srcFs' && writesTrees.has(path);
      checked[fs] = await (isTree ? this.tree(caller, input[fs]) : this.place(caller, input[fs], need));
      const below = remote === undefined ? '' : input[remote];
      if (typeof below === 'string' && below !== '') await this.place(caller, within(input[fs], below), need);
    }
    return checked;
  }

  /** The same of a place into which whole trees are written: the engine writes through links that are there. @throws CallError 403 */
  async tree(caller: Caller, text: string): Promise<string> {
    const real = await this.place(caller, text, 'write');
    if (!caller.all && readPlace(real, process.platform === 'win32').kind === 'local') {
      for await (const link of linksIn(real)) await this.place(caller, link, 'write');
    }
    return real;
  }

  /** The place as the engine may get it. @throws CallError 403 */
  async place(caller: Caller, text: string, need: 'read' | 'write'): Promise<string> {
    if (caller.all) return text;
    const place = readPlace(text, process.platform === 'win32');
    if (place.kind === 'inline') throw refusal(text);
    if (climbs(place.path)) throw refusal(text);
    const real = place.kind === 'local' ? { ...place, path: await realPlace(place.path) } : place;
    const resource = resourceOf(real);
    const lists = await this.#lists(caller);
    if (!lists.every(({ own, everybodys }) => coversWhole(own, everybodys, resource, need))) throw refusal(text);
    return real.kind === 'local' ? real.path : text;
  }

  /** The grants that must allow something, each list for itself: those of a token and those of its account. */
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
  readonly own: readonly PlaceGrant[];
  readonly everybodys: readonly PlaceGrant[];
}

function onSync(grants: readonly Grant[] = []): readonly PlaceGrant[] {
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

/** Options as an object of those that may be given. */
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
  // What cannot be read the engine cannot read either.
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) yield path;
    else if (entry.isDirectory()) yield* linksIn(path);
  }
}

/** Where a path leads in truth; what of it is not there yet stays as it is. @throws CallError 403 for a link to nowhere. */
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
