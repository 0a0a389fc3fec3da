import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError, type Git } from '../engine/git.ts';
import type { RepositoryManager, NewRepository } from './repository-manager.ts';
import { readReferences, sizeOf } from './references.ts';
import type { Repositories, Repository } from './repositories.ts';

/** Address and credentials of a remote repository. */
export interface Origin {
  readonly address: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export interface MigrateDependencies {
  readonly context: Pick<Context, 'connect' | 'files'>;
  readonly git: Git;
  readonly manager: RepositoryManager;
  readonly repositories: Repositories;
  /** Allows addresses of this computer and its network. */
  readonly mayReachLocal: boolean;
}

const longestMs = 60 * 60_000;
const heads = 'refs/heads/';

/**
 * Imports a repository with all branches and tags. It is hidden until the import is complete.
 * @throws Problem (422) with Gitea's message, `git.name_taken` (409)
 */
export async function migrate(
  { context, git, manager, repositories, mayReachLocal }: MigrateDependencies,
  wanted: NewRepository,
  origin: Origin,
): Promise<Repository> {
  const url = addressOf(origin.address);
  const pinned = mayReachLocal ? [] : await pinnedTo(context, url);
  if ((await repositories.find(wanted.owner, wanted.name)) !== undefined) {
    throw new Problem('git.name_taken', 409, 'The repository with the same name already exists.');
  }
  const user = origin.user ?? decodeURIComponent(url.username);
  const password = origin.password ?? decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  return manager.create({ ...wanted, originalUrl: url.href }, async (folder) => {
    await using answers = await askPass(context.files, user, password);
    const options = {
      environment: {
        GIT_ASKPASS: answers.path,
        GIT_ALLOW_PROTOCOL: mayReachLocal ? 'http:https:git' : 'http:https',
        // A proxy would resolve the name again.
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
      if (!(error instanceof GitError)) throw error;
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
    // The default branch of the remote becomes the default branch here.
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

/** Builds git settings that pin the host to the checked address, so that a later DNS change has no effect. */
async function pinnedTo({ connect }: Pick<Context, 'connect'>, url: URL): Promise<readonly string[]> {
  if (url.protocol === 'git:') throw new Problem('git.migration', 422, 'You can not import from disallowed hosts.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  try {
    const { socket, address } = await connect({ host, port: Number(portOf(url)), trust: 'other' });
    socket.destroy();
    return [`http.curloptResolve=${url.hostname}:${portOf(url)}:${address}`];
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    const refused = cause.code === 'fetch.refused_address';
    const detail = refused ? 'You can not import from disallowed hosts.' : `Migration failed: ${cause.detail}`;
    throw new Problem('git.migration', 422, detail, { cause });
  }
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}

/**
 * Writes a script that answers git's prompts for user name and password, so that neither appears in arguments or in the
 * configuration.
 */
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
    [
      '#!/bin/sh',
      'case "$1" in',
      `Username*) printf '%s\\n' ${quoted(user)} ;;`,
      `*) printf '%s\\n' ${quoted(password)} ;;`,
      'esac',
      '',
    ].join('\n'),
    { mode: 0o700 },
  );
  await chmod(path, 0o700);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
