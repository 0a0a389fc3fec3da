import * as m from '#messages/git-problems';
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ChildExit, RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { buildConfiguration } from './configuration.ts';
import { buildDiskFullProblem } from './disk-full.ts';
import { findGitFailure, type GitFailure } from './git-failure.ts';
import { buildMissingProblem, GitProgram } from './git-program.ts';

/** Result of a git process. */
export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  /** First 16 KiB of the error output. */
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array | Readable;
  /** Ends the process if its output is larger. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Exit codes other than 0 that are results; all others throw. Default: none. */
  readonly allowedExitCodes?: readonly number[];
  readonly environment?: Readonly<Record<string, string>>;
  /** `-c` settings for the command, `name=value`. */
  readonly config?: readonly string[];
  readonly signal?: AbortSignal;
  /** The process may run for a long time and must not outlive a killed host. */
  readonly longRunning?: boolean;
  /** Runs with a lower priority than requests of clients. */
  readonly background?: boolean;
  /**
   * Limits memory for output that is displayed: if git needs more memory, it exits and `git.too_much` is thrown. Files
   * of 1 MiB and more are treated as binary.
   */
  readonly limitedMemory?: boolean;
}

const defaultMaxBytes = 64 * 1024 * 1024;
const maxErrorBytes = 16 * 1024;
const backgroundPriority = constants.priority.PRIORITY_BELOW_NORMAL;
/**
 * Maximum size of one allocation by git. A pushed object that declares a larger size is rejected, even if it is
 * compressed to a few bytes. Files that are really larger are streamed, see `bigFileThreshold`.
 */
const maxAllocation = '640m';
const limitedEnvironment = { GIT_ALLOC_LIMIT: '8m' } as const;
const limitedConfig = ['core.bigFileThreshold=1m'] as const;
/** Older versions do not support `merge-tree --write-tree`. */
const minVersion = [2, 38] as const;

/**
 * Rejects pushes that remove commits from a protected branch. Git can determine this only after it received the
 * objects. The hook runs only for pushes to protected branches.
 */
const updateHook = `#!/bin/sh
case " $HOMEPORT_ADD_ONLY " in *" $1 "*) ;; *) exit 0 ;; esac
git merge-base --is-ancestor "$2" "$3" && exit 0
echo "$1 is protected: commits can be added to it, but not removed" >&2
exit 1
`;

/** Folder with the repositories, which may be on a network file system. */
interface Availability {
  /** @throws Problem (503) if the folder is not available. `now` repeats a recent check. */
  ensure(options?: { readonly now?: boolean }): Promise<void>;
}

/** Runs git as child processes, isolated from the git configuration of this computer. */
export class Git {
  readonly #children: Context['children'];
  readonly #program: GitProgram;
  readonly #repositories: Availability | undefined;
  #isPrepared = false;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #settings: readonly string[];
  version = '';

  constructor(
    context: Pick<Context, 'children' | 'engines' | 'files'>,
    configuredPath: string,
    repositories?: Availability,
  ) {
    this.#children = context.children;
    this.#program = new GitProgram(context.engines, configuredPath);
    this.#repositories = repositories;
    const home = join(context.files, 'home');
    this.#environment = {
      HOME: home,
      XDG_CONFIG_HOME: home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      // Do not fetch missing objects with programs that the repository's configuration names.
      GIT_NO_LAZY_FETCH: '1',
      // Replacement objects would let pushers substitute the commits that are displayed.
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_ALLOC_LIMIT: maxAllocation,
      GIT_OPTIONAL_LOCKS: '0',
      LC_ALL: 'C.UTF-8',
    };
    this.#settings = buildConfiguration(join(home, 'hooks'));
  }

  /**
   * Creates git's home folder and reads the version. Can be called again after the program changed.
   *
   * @throws Problem `git.missing`, `git.too_old` (503)
   */
  async open(): Promise<void> {
    // Running commands read these files.
    if (!this.#isPrepared) this.#prepareHome();
    this.#isPrepared = true;
    const file = await this.#program.find({ refresh: true });
    const { stdout } = await this.run(undefined, ['version']).catch((cause: unknown) => {
      throw buildMissingProblem(() => m.gitNotRunnable({ file }), cause);
    });
    this.version = /\d+(\.\d+)+/.exec(stdout.toString())?.[0] ?? '';
    const [major = 0, minor = 0] = this.version.split('.').map(Number);
    if (major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])) {
      const versions = { version: this.version, oldest: minVersion.join('.') };
      throw new Problem('git.too_old', 503, () => m.gitTooOld(versions));
    }
  }

  #prepareHome(): void {
    const home = this.#environment['HOME'] ?? '';
    mkdirSync(join(home, 'hooks'), { recursive: true, mode: 0o700 });
    mkdirSync(join(home, 'guards'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'guards', 'update'), updateHook, { mode: 0o700 });
    writeFileSync(join(home, 'gitconfig'), `${this.#settings.join('\n')}\n`, { mode: 0o600 });
  }

  /** Returns options that make `git receive-pack` reject pushes which remove commits from these references. */
  buildGuardOptions(addOnly: readonly string[]): Required<Pick<RunOptions, 'config' | 'environment'>> {
    return {
      config: [`core.hooksPath=${join(this.#environment['HOME'] ?? '', 'guards')}`],
      environment: { HOMEPORT_ADD_ONLY: addOnly.join(' ') },
    };
  }

  /** @throws Problem (503) if the folder with the repositories is not available. */
  async ensureRepositories(options?: { readonly now?: boolean }): Promise<void> {
    await this.#repositories?.ensure(options);
  }

  /**
   * Starts `git` in a repository and returns the process, for streaming.
   *
   * @throws Problem (503) if the folder with the repositories is not available.
   */
  async start(folder: string | undefined, args: readonly string[], options: RunOptions = {}): Promise<RunningChild> {
    if (folder !== undefined) await this.ensureRepositories();
    const config = [...(options.limitedMemory === true ? limitedConfig : []), ...(options.config ?? [])];
    const child = await this.#children.start({
      name: args.find((arg) => !arg.startsWith('-')) ?? 'git',
      file: await this.#program.find(),
      // Git enters the folder itself: while a network file system does not respond, the start would block all services.
      args: [...(folder === undefined ? [] : ['-C', folder]), ...config.flatMap((setting) => ['-c', setting]), ...args],
      environment: {
        ...this.#environment,
        ...(folder === undefined ? {} : { GIT_DIR: folder }),
        ...(options.limitedMemory === true ? limitedEnvironment : {}),
        ...options.environment,
      },
      ...(folder === undefined ? {} : { folder: this.#environment['HOME'] ?? '' }),
      shortLived: options.longRunning !== true,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (options.background === true) lowerPriority(child);
    return child;
  }

  /**
   * Runs `git` until it exits.
   *
   * @throws GitError for an unexpected exit code; Problem `git.too_much` (413), `git.disk_full` (507)
   */
  async run(folder: string | undefined, args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const child = await this.start(folder, args, options);
    const input = writeInput(child, options.input);
    const [stdout, stderr, exit] = await Promise.all([
      readOutput(child, options.maxBytes ?? defaultMaxBytes),
      readErrors(child),
      child.exited,
      input,
    ]);
    options.signal?.throwIfAborted();
    const code = exit.code ?? 128;
    if (code === 0) return { code, stdout, stderr };
    // A file system that is no longer mounted looks like a missing repository.
    if (folder !== undefined) await this.#repositories?.ensure({ now: true });
    const error = new GitError(args, exit, stderr);
    if (options.limitedMemory === true && error.failure === 'out_of_memory') throw buildOutputTooLargeProblem();
    if (options.allowedExitCodes?.includes(code) === true) return { code, stdout, stderr };
    // Callers interpret GitError as the answer of git to their request, so a full disk must be a different error.
    throw error.failure === 'disk_full' ? buildDiskFullProblem(error) : error;
  }

  /** Runs `git` and splits its output into lines. */
  async lines(folder: string, args: readonly string[], options: RunOptions = {}): Promise<readonly string[]> {
    const text = (await this.run(folder, args, options)).stdout.toString();
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }
}

/** Git exited with an unexpected code or was ended by a signal. */
export class GitError extends Error {
  override readonly name = 'GitFailed';
  readonly code: number | null;
  /** Error output of git. */
  readonly stderr: string;
  readonly failure: GitFailure | undefined;

  constructor(args: readonly string[], { code, signal }: ChildExit, stderr: string) {
    super(`git ${args.slice(0, 3).join(' ')} ended with ${code ?? signal ?? 'nothing'}: ${stderr.trim()}`);
    this.code = code;
    this.stderr = stderr.trim();
    this.failure = findGitFailure(stderr);
  }
}

/** Returns true if the output was too large to be shown. */
export function isOutputTooLarge(error: unknown): boolean {
  return error instanceof Problem && error.code === 'git.too_much';
}

export function buildOutputTooLargeProblem(): Problem {
  return new Problem('git.too_much', 413, m.tooLargeToShow());
}

/** Reads the first 16 KiB of a child's error output. */
export async function readErrors(child: RunningChild): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of child.stderr as AsyncIterable<Buffer>) {
    if (size < maxErrorBytes) parts.push(part);
    size += part.length;
  }
  return Buffer.concat(parts).toString().slice(0, maxErrorBytes);
}

function lowerPriority({ pid }: RunningChild): void {
  try {
    if (getPriority(pid) < backgroundPriority) setPriority(pid, backgroundPriority);
  } catch (error) {
    // The process has already exited, or only administrators may change priorities. Both are harmless.
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error;
  }
}

async function readOutput(child: RunningChild, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) break;
    parts.push(part);
  }
  if (size <= maxBytes) return Buffer.concat(parts);
  // Stop the process after reading has ended: output that is not read would block its exit.
  await child.stop();
  throw buildOutputTooLargeProblem();
}

async function writeInput(child: RunningChild, input: RunOptions['input']): Promise<void> {
  if (input === undefined || typeof input === 'string' || input instanceof Uint8Array) {
    child.stdin.end(input);
    return;
  }
  try {
    await pipeline(input, child.stdin);
  } catch (error) {
    // Git closed its input early. The exit code determines the result.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}
