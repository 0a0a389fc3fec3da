import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitFailed, type Git } from '../engine/git.ts';
import type { Keeper, NewRepository } from './repository-manager.ts';
import { readReferences, sizeOf } from './references.ts';
import type { Repositories, Repository } from './repositories.ts';

/** A repository elsewhere. */
export interface Origin {
  readonly address: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export interface MigrateParts {
  readonly context: Pick<Context, 'address' | 'connect' | 'files'>;
  readonly git: Git;
  readonly keeper: Keeper;
  readonly repositories: Repositories;
  /** Addresses of this computer and its network are allowed. */
  readonly mayReachLocal: boolean;
}

const longestMs = 60 * 60_000;
const heads = 'refs/heads/';

/**
 * Copies a repository with all its branches and tags; nobody sees it before it is whole.
 * @throws Problem (422) in the peer's words, `git.name_taken` (409)
 */
export async function migrate(
  { context, git, keeper, repositories, mayReachLocal }: MigrateParts,
  wanted: NewRepository,
  origin: Origin,
): Promise<Repository> {
  const url = addressOf(origin.address);
  const pinned = await pinnedTo(context, url, mayReachLocal);
  if ((await repositories.find(wanted.owner, wanted.name)) !== undefined) {
    throw new Problem('git.name_taken', 409, 'The repository with the same name already exists.');
  }
  const user = origin.user ?? decodeURIComponent(url.username);
  const password = origin.password ?? decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  return keeper.create({ ...wanted, originalUrl: url.href }, async (folder) => {
    await using answers = await askPass(context.files, user, password);
    const options = {
      environment: {
        GIT_ASKPASS: answers.path,
        GIT_ALLOW_PROTOCOL: mayReachLocal ? 'http:https:git' : 'http:https',
        // A proxy would look the name up once more.
        ...(mayReachLocal ? {} : { NO_PROXY: '*', no_proxy: '*' }),
      },
      config: ['http.followRedirects=false', 'transfer.fsckObjects=true', 'credential.helper=', ...pinned],
      signal: AbortSignal.timeout(longestMs),
      long: true,
    };
    const wantedRefs = ['heads', 'tags', 'notes'].map((kind) => `+refs/${kind}/*:refs/${kind}/*`);
    try {
      await git.run(
        folder,
        ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', url.href, ...wantedRefs],
        options,
      );
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error;
      const words = error.words.replaceAll(/\s*\n\s*/g, ' ');
      throw new Problem(
        'git.migration',
        422,
        `Migration failed: clone error: exit status ${error.code ?? 128} - ${words}`,
        { cause: error },
      );
    }
    const { stdout } = await git.run(folder, ['ls-remote', '--symref', '--', url.href, 'HEAD'], {
      ...options,
      codes: [128],
    });
    const branches = (await readReferences(git, folder, heads)).map(({ ref }) => ref.slice(heads.length));
    // The branch that the other side shows first is the default one here.
    const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout.toString())?.[1] ?? wanted.defaultBranch;
    const defaultBranch = branches.includes(head) ? head : (branches[0] ?? wanted.defaultBranch);
    await git.run(folder, ['symbolic-ref', 'HEAD', `${heads}${defaultBranch}`]);
    return {
      branch_count: branches.length,
      default_branch: defaultBranch,
      empty: Number(branches.length === 0),
      size: await sizeOf(git, folder),
    };
  });
}

function addressOf(text: string): URL {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol === 'file:') {
    throw new Problem('git.migration', 422, 'You are not allowed to import local repositories.');
  }
  if (!['http:', 'https:', 'git:'].includes(url.protocol) || url.hostname === '' || /[\0\r\n]/.test(text)) {
    throw new Problem('git.migration', 422, 'Migration failed: only addresses of http, https and git are taken.');
  }
  return url;
}

/**
 * Returns settings that lead git to the address that was checked, whatever the name resolves to a moment later.
 * Listeners of Homeport except the one of Git are refused also where addresses of this computer are allowed.
 */
async function pinnedTo(
  { address: ownAddress, connect }: Pick<Context, 'address' | 'connect'>,
  url: URL,
  mayReachLocal: boolean,
): Promise<readonly string[]> {
  const isHttp = url.protocol !== 'git:';
  if (!isHttp && !mayReachLocal) throw refuseHost();
  const host = url.hostname.replace(/^\[|\]$/g, '');
  try {
    const { socket, address } = await connect({
      ...{ host, port: Number(portOf(url)) },
      trust: mayReachLocal ? 'owner' : 'other',
    });
    socket.destroy();
    return isHttp ? [`http.curloptResolve=${url.hostname}:${portOf(url)}:${address}`] : [];
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    const isOwnListener = cause.code === 'fetch.own_listener';
    // Homeport's own repositories may be copied like all others; their listener trusts no program on this computer.
    if (isOwnListener && mayReachLocal && URL.parse(ownAddress('git') ?? '')?.port === portOf(url)) return [];
    if (cause.code === 'fetch.refused_address' || isOwnListener) throw refuseHost(cause);
    // Git may reach the host through a proxy, and reports its own failure otherwise.
    if (mayReachLocal) return [];
    throw new Problem('git.migration', 422, `Migration failed: ${cause.detail}`, { cause });
  }
}

function refuseHost(cause?: Problem): Problem {
  return new Problem('git.migration', 422, 'You can not import from disallowed hosts.', { cause });
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  if (protocol === 'git:') return '9418';
  return protocol === 'https:' ? '443' : '80';
}

/** A program that answers git's questions for name and password, so that neither stands in an argument or in the configuration. */
async function askPass(
  files: string,
  user: string,
  password: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(join(files, 'home', 'ask-'));
  const path = join(folder, 'ask.sh');
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  await writeFile(
    path,
    `#!/bin/sh\ncase "$1" in\nUsername*) printf '%s\\n' ${quoted(user)} ;;\n*) printf '%s\\n' ${quoted(password)} ;;\nesac\n`,
    { mode: 0o700 },
  );
  await chmod(path, 0o700);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
