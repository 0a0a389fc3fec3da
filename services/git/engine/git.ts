import { mkdirSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ChildExit, RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { diskFull, saysDiskFull } from './disk-full.ts';

/** What a run of git gave. */
export interface Ran {
  readonly code: number;
  readonly stdout: Buffer;
  /** Its first 16 KiB. */
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array | Readable;
  /** More output than this ends it; default 64 MiB. */
  readonly maxBytes?: number;
  /** Exit codes besides 0 that are an answer; others throw. Default: none. */
  readonly codes?: readonly number[];
  readonly environment?: Readonly<Record<string, string>>;
  /** `-c` settings in front of the command, `name=value`. */
  readonly config?: readonly string[];
  readonly signal?: AbortSignal;
  /** It goes on for long and must not outlive a killed host. */
  readonly long?: boolean;
  /** What others wait for goes first. */
  readonly background?: boolean;
  /**
   * For what is shown, however hostile it is: rather than to need much memory for it git ends, which is a `git.too_much`, and
   * it takes large files for binary ones.
   */
  readonly modest?: boolean;
}

const defaultMaxBytes = 64 * 1024 * 1024;
const keptErrors = 16 * 1024;
const modestPriority = constants.priority.PRIORITY_BELOW_NORMAL;
/**
 * What git may take at once. An object of a push that says it is larger is refused, whatever its few bytes swell to; what is
 * larger in truth is streamed, see `bigFileThreshold`.
 */
const longestPiece = '640m';
const modestEnvironment = { GIT_ALLOC_LIMIT: '8m' } as const;
/** What git says of it. */
const outOfMemory = /attempting to allocate|out of memory/i;
const modestConfig = ['core.bigFileThreshold=1m'] as const;
/** With an older one there is no `merge-tree --write-tree`. */
const leastVersion = [2, 38] as const;

/**
 * Only git itself can tell, once it has the objects, whether a push takes commits away. This is run for no other push than one to a
 * protected branch.
 */
const updateHook = `#!/bin/sh
case " $HOMEPORT_ADD_ONLY " in *" $1 "*) ;; *) exit 0 ;; esac
git merge-base --is-ancestor "$2" "$3" && exit 0
echo "$1 is protected: commits may be added to it, and none taken away" >&2
exit 1
`;

/** Objects that are odd, and are in the history of many projects all the same. */
const tolerated = [
  'badTimezone',
  'missingSpaceBeforeDate',
  'multipleAuthors',
  'zeroPaddedFilemode',
  'missingNameBeforeEmail',
  'missingEmail',
  'zeroPaddedDate',
  'gitmodulesParse',
  'missingTaggerEntry',
];

/** Git itself, run in children with nothing of the machine's own configuration. */
export class Git {
  readonly #context: Pick<Context, 'children'>;
  readonly #file: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #settings: readonly string[];
  version = '';

  constructor(context: Pick<Context, 'children' | 'files'>, file: string) {
    this.#context = context;
    this.#file = file === '' ? 'git' : file;
    const home = join(context.files, 'home');
    this.#environment = {
      HOME: home,
      XDG_CONFIG_HOME: home,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      // What a repository lacks is not looked for elsewhere, by programs that its own configuration names.
      GIT_NO_LAZY_FETCH: '1',
      // Whoever may push could put other commits in the place of those that people look at.
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_ALLOC_LIMIT: longestPiece,
      GIT_OPTIONAL_LOCKS: '0',
      LC_ALL: 'C.UTF-8',
    };
    this.#settings = configuration(join(home, 'hooks'));
  }

  /** Makes its home, and asks for its version. @throws Problem `git.missing`, `git.too_old` (503). */
  async open(): Promise<void> {
    const home = this.#environment['HOME'] ?? '';
    mkdirSync(join(home, 'hooks'), { recursive: true, mode: 0o700 });
    mkdirSync(join(home, 'guards'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'guards', 'update'), updateHook, { mode: 0o700 });
    writeFileSync(join(home, 'gitconfig'), `${this.#settings.join('\n')}\n`, { mode: 0o600 });
    const { stdout } = await this.run(undefined, ['version']).catch((cause: unknown) => {
      const detail =
        'Git is not on this computer. Install it (https://git-scm.com), or say in the settings where it is.';
      throw new Problem('git.missing', 503, detail, { cause });
    });
    this.version = /\d+(\.\d+)+/.exec(stdout.toString())?.[0] ?? '';
    const [major = 0, minor = 0] = this.version.split('.').map(Number);
    if (major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1])) {
      throw new Problem(
        'git.too_old',
        503,
        `Git ${this.version} is too old; install ${leastVersion.join('.')} or later.`,
      );
    }
  }

  /** What has `git receive-pack` refuse to take commits away from these references. */
  guard(addOnly: readonly string[]): Required<Pick<RunOptions, 'config' | 'environment'>> {
    return {
      config: [`core.hooksPath=${join(this.#environment['HOME'] ?? '', 'guards')}`],
      environment: { HOMEPORT_ADD_ONLY: addOnly.join(' ') },
    };
  }

  /** Starts `git` in a repository, for who streams. */
  async start(folder: string | undefined, args: readonly string[], options: RunOptions = {}): Promise<RunningChild> {
    const config = [...(options.modest === true ? modestConfig : []), ...(options.config ?? [])];
    const child = await this.#context.children.start({
      name: args.find((arg) => !arg.startsWith('-')) ?? 'git',
      file: this.#file,
      args: [...config.flatMap((setting) => ['-c', setting]), ...args],
      environment: {
        ...this.#environment,
        ...(folder === undefined ? {} : { GIT_DIR: folder }),
        ...(options.modest === true ? modestEnvironment : {}),
        ...options.environment,
      },
      ...(folder === undefined ? {} : { folder }),
      shortLived: options.long !== true,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (options.background === true) giveWay(child);
    return child;
  }

  /** Runs `git` to its end. @throws GitFailed for an exit code that is no answer, Problem `git.too_much` (413), `git.disk_full` (507). */
  async run(folder: string | undefined, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const child = await this.start(folder, args, options);
    const input = feed(child, options.input);
    const [stdout, stderr, exit] = await Promise.all([
      gather(child, options.maxBytes ?? defaultMaxBytes),
      errorsOf(child),
      child.exited,
      input,
    ]);
    options.signal?.throwIfAborted();
    const code = exit.code ?? 128;
    if (options.modest === true && code !== 0 && outOfMemory.test(stderr)) throw tooMuch();
    if (code === 0 || options.codes?.includes(code) === true) return { code, stdout, stderr };
    const failed = new GitFailed(args, exit, stderr);
    // Callers take a failure for git's opinion of what they asked.
    throw saysDiskFull(stderr) ? diskFull(failed) : failed;
  }

  /** The same for the lines of an output that ends in one. */
  async lines(folder: string, args: readonly string[], options: RunOptions = {}): Promise<readonly string[]> {
    const text = (await this.run(folder, args, options)).stdout.toString();
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }
}

/** Git refused, or was ended. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
  readonly code: number | null;
  /** What git said of it. */
  readonly words: string;

  constructor(args: readonly string[], { code, signal }: ChildExit, words: string) {
    super(`git ${args.slice(0, 3).join(' ')} ended with ${code ?? signal ?? 'nothing'}: ${words.trim()}`);
    this.code = code;
    this.words = words.trim();
  }
}

/** Whether there was more than may be shown. */
export function isTooMuch(error: unknown): boolean {
  return error instanceof Problem && error.code === 'git.too_much';
}

export function tooMuch(): Problem {
  return new Problem('git.too_much', 413, 'This is too large to be shown.');
}

/** The beginning of what a child complains of. */
export async function errorsOf(child: RunningChild): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of child.stderr as AsyncIterable<Buffer>) {
    if (size < keptErrors) parts.push(part);
    size += part.length;
  }
  return Buffer.concat(parts).toString().slice(0, keptErrors);
}

function giveWay({ pid }: RunningChild): void {
  try {
    if (getPriority(pid) < modestPriority) setPriority(pid, modestPriority);
  } catch (error) {
    // It has ended already, or this computer keeps priorities to administrators: the work is the same.
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error;
  }
}

async function gather(child: RunningChild, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) break;
    parts.push(part);
  }
  if (size <= maxBytes) return Buffer.concat(parts);
  // Only now that nobody reads it any more: what it still says would keep it from its end.
  await child.stop();
  throw tooMuch();
}

async function feed(child: RunningChild, input: RunOptions['input']): Promise<void> {
  if (input === undefined || typeof input === 'string' || input instanceof Uint8Array) {
    child.stdin.end(input);
    return;
  }
  try {
    await pipeline(input, child.stdin);
  } catch (error) {
    // Git has read enough, and says by its end what it thought of it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}

/** The lines of the only configuration that our git reads besides a repository's own, which is ours as well. */
function configuration(hooks: string): readonly string[] {
  return [
    '[core]',
    `\thooksPath = ${JSON.stringify(hooks)}`,
    '\tlogAllRefUpdates = false',
    '\tfsyncMethod = fsync',
    '\tfsync = committed,reference',
    '\tquotePath = false',
    '\tlongPaths = true',
    // Names that lead into a `.git` elsewhere are taken nowhere, since clones go everywhere.
    '\tprotectHFS = true',
    '\tprotectNTFS = true',
    // Larger files are streamed and not held.
    '\tbigFileThreshold = 64m',
    '[safe]',
    '\tdirectory = *',
    '[init]',
    '\tdefaultBranch = main',
    '[gc]',
    '\tauto = 0',
    '[maintenance]',
    '\tauto = false',
    '[uploadpack]',
    '\tallowFilter = true',
    '\tallowAnySHA1InWant = true',
    '[receive]',
    '\tadvertisePushOptions = true',
    '\tfsckObjects = true',
    '\tautogc = false',
    '\thideRefs = refs/pull',
    '\tdenyCurrentBranch = ignore',
    '\tdenyDeleteCurrent = ignore',
    // What a push may bring, a migration and a restored backup may.
    ...['[receive "fsck"]', '[fetch "fsck"]', '[fsck]'].flatMap((section) => [
      section,
      ...tolerated.map((id) => `\t${id} = warn`),
    ]),
    '[protocol]',
    '\tversion = 2',
  ];
}
