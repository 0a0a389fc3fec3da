import { GiteaProblem } from '../domain/page-problem.ts';
import * as m from '#messages/git-problems';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError, type Git, type RunOptions } from '../engine/git.ts';
import type { RepositoryManager, NewRepository } from './repository-manager.ts';
import { findUnstorableInSource } from './reference-names.ts';
import { readReferences, readSize } from './references.ts';
import type { Repositories, Repository } from './repositories.ts';
import { quoteForShell } from '../../contracts/shell-quote.ts';

/** Address and credentials of a remote repository. */
export interface MigrationSource {
  readonly address: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export interface MigrateDependencies {
  readonly context: Pick<Context, 'address' | 'connect' | 'files'>;
  readonly git: Git;
  readonly manager: RepositoryManager;
  readonly repositories: Repositories;
  /** Allows addresses of this computer and its network. */
  readonly mayReachLocal: boolean;
}

const timeoutMs = 60 * 60_000;
const branchPrefix = 'refs/heads/';

/**
 * Imports a repository with all branches and tags. It is hidden until the import is complete.
 * @throws Problem (422) with Gitea's message, `git.name_taken` (409)
 */
export async function migrate(
  { context, git, manager, repositories, mayReachLocal }: MigrateDependencies,
  newRepository: NewRepository,
  origin: MigrationSource,
): Promise<Repository> {
  const url = parseAddress(origin.address);
  const pinnedConfig = await pinAddress(context, url, mayReachLocal);
  if ((await repositories.find(newRepository.owner, newRepository.name)) !== undefined) {
    throw new Problem('git.name_taken', 409, 'The repository with the same name already exists.');
  }
  const user = origin.user ?? decodeURIComponent(url.username);
  const password = origin.password ?? decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  return manager.create({ ...newRepository, originalUrl: url.href }, async (folder) => {
    await using credentials = await writeAskPassScript(context.files, user, password);
    const processOptions = {
      environment: {
        GIT_ASKPASS: credentials.path,
        GIT_ALLOW_PROTOCOL: mayReachLocal ? 'http:https:git' : 'http:https',
        // A proxy would resolve the name again.
        ...(mayReachLocal ? {} : { NO_PROXY: '*', no_proxy: '*' }),
      },
      config: ['http.followRedirects=false', 'transfer.fsckObjects=true', 'credential.helper=', ...pinnedConfig],
      signal: AbortSignal.timeout(timeoutMs),
      longRunning: true,
    };
    await fetchReferences(git, folder, url.href, processOptions);
    const { stdout } = await git.run(folder, ['ls-remote', '--symref', '--', url.href, 'HEAD'], {
      ...processOptions,
      allowedExitCodes: [128],
    });
    const branches = (await readReferences(git, folder, branchPrefix)).map(({ ref }) => ref.slice(branchPrefix.length));
    // The default branch of the remote becomes the default branch here.
    const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout.toString())?.[1] ?? newRepository.defaultBranch;
    const defaultBranch = branches.includes(head) ? head : (branches[0] ?? newRepository.defaultBranch);
    await git.run(folder, ['symbolic-ref', 'HEAD', `${branchPrefix}${defaultBranch}`]);
    return {
      branch_count: branches.length,
      default_branch: defaultBranch,
      empty: Number(branches.length === 0),
      size: await readSize(git, folder),
    };
  });
}

/** Fetches all branches, tags and notes into an empty repository. */
async function fetchReferences(git: Git, folder: string, address: string, options: RunOptions): Promise<void> {
  const wantedRefs = ['heads', 'tags', 'notes'].map((kind) => `+refs/${kind}/*:refs/${kind}/*`);
  try {
    const unstorable = await findUnstorableInSource(git, folder, address, options);
    if (unstorable !== undefined)
      throw buildMigrationProblem(`Migration failed: ${unstorable}`, m.importFailed({ reason: unstorable }));
    const args = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', address, ...wantedRefs];
    await git.run(folder, args, options);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const message = error.stderr.replaceAll(/\s*\n\s*/g, ' ');
    throw buildMigrationProblem(
      `Migration failed: clone error: exit status ${error.code ?? 128} - ${message}`,
      m.importCloneFailed({ message }),
      error,
    );
  }
}

function parseAddress(text: string): URL {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol === 'file:') {
    throw buildMigrationProblem('You are not allowed to import local repositories.', m.importAddressInvalid());
  }
  if (!['http:', 'https:', 'git:'].includes(url.protocol) || url.hostname === '' || /[\0\r\n]/.test(text)) {
    throw buildMigrationProblem(
      'Migration failed: only http, https and git addresses are accepted.',
      m.importAddressInvalid(),
    );
  }
  return url;
}

/**
 * Returns settings that lead git to the address that was checked, whatever the name resolves to a moment later.
 * Listeners of Homeport except the one of Git are refused also where addresses of this computer are allowed.
 */
async function pinAddress(
  { address: ownAddress, connect }: Pick<Context, 'address' | 'connect'>,
  url: URL,
  mayReachLocal: boolean,
): Promise<readonly string[]> {
  const isHttp = url.protocol !== 'git:';
  if (!isHttp && !mayReachLocal) throw refuseHost();
  const host = url.hostname.replace(/^\[|\]$/g, '');
  try {
    const { socket, address } = await connect({
      host,
      port: Number(getPort(url)),
      trust: mayReachLocal ? 'owner' : 'other',
    });
    socket.destroy();
    return isHttp ? [`http.curloptResolve=${url.hostname}:${getPort(url)}:${address}`] : [];
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    const isOwnListener = cause.code === 'fetch.own_listener';
    // Homeport's own repositories may be copied like all others; their listener trusts no program on this computer.
    if (isOwnListener && mayReachLocal && URL.parse(ownAddress('git') ?? '')?.port === getPort(url)) return [];
    if (cause.code === 'fetch.refused_address' || isOwnListener) throw refuseHost(cause);
    // Git may reach the host through a proxy, and reports its own failure otherwise.
    if (mayReachLocal) return [];
    throw buildMigrationProblem(`Migration failed: ${cause.detail}`, m.importFailed({ reason: cause.detail }), cause);
  }
}

function refuseHost(cause?: Problem): GiteaProblem {
  return buildMigrationProblem('You can not import from disallowed hosts.', m.importHostDenied(), cause);
}

function buildMigrationProblem(detail: string, pageDetail: string, cause?: unknown): GiteaProblem {
  return new GiteaProblem('git.migration', 422, detail, pageDetail, { cause });
}

function getPort({ port, protocol }: URL): string {
  if (port !== '') return port;
  if (protocol === 'git:') return '9418';
  return protocol === 'https:' ? '443' : '80';
}

/**
 * Writes a script that answers git's prompts for user name and password, so that neither appears in arguments or in the
 * configuration.
 */
async function writeAskPassScript(
  files: string,
  user: string,
  password: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(join(files, 'home', 'ask-'));
  const path = join(folder, 'ask.sh');
  await writeFile(
    path,
    [
      '#!/bin/sh',
      'case "$1" in',
      `Username*) printf '%s\\n' ${quoteForShell(user)} ;;`,
      `*) printf '%s\\n' ${quoteForShell(password)} ;;`,
      'esac',
      '',
    ].join('\n'),
    { mode: 0o700 },
  );
  await chmod(path, 0o700);
  return { path, [Symbol.asyncDispose]: () => removeTree(folder) };
}
