import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunningChild } from '../../contracts/children.ts';
import type { Context } from '../../contracts/service.ts';
import { errorsOf, type Git } from '../engine/git.ts';
import type { Pusher, Verdict } from '../protection/protections.ts';
import type { Repository } from '../repositories/repositories.ts';
import { feed, forward } from './flow.ts';
import { changesMade, type Pushes } from './pushes.ts';
import { PushReport, refusal } from './push-report.ts';
import { readPushRequest, type PushRequest } from './push-request.ts';

export type Service = 'upload-pack' | 'receive-pack';

/** Says what of a push may not be. */
export type PushRules = (repository: Repository, push: PushRequest, pusher: Pusher) => Promise<Verdict>;

export interface TransferParts {
  readonly context: Pick<Context, 'log'>;
  readonly git: Git;
  readonly folder: (repository: Repository) => string;
  readonly pushes: Pushes;
  readonly rules: PushRules;
  /** Bytes that a push may have; 0 for no limit. The setting is live. */
  readonly maxPushBytes: () => number;
  /** What a push asks of the repository itself by its options. */
  readonly pushOptions: (repository: Repository, options: readonly string[]) => Promise<void>;
}

/** One conversation with a client of git. */
export interface Conversation {
  readonly input: Readable;
  readonly output: Writable;
  /** `GIT_PROTOCOL` as the client asked for it. */
  readonly protocol: string | undefined;
  readonly signal: AbortSignal;
}

/** Moves packs between clients and repositories; git does the work, in children. */
export class Transfer {
  readonly #parts: TransferParts;
  #known: Promise<Buffer> | undefined;

  constructor(parts: TransferParts) {
    this.#parts = parts;
  }

  /** What the server has and can do, which begins every conversation. */
  async advertise(
    service: Service,
    repository: Repository,
    { output, protocol, signal }: Omit<Conversation, 'input'>,
    options: { readonly end?: boolean } = {},
  ): Promise<void> {
    if (service === 'upload-pack' && protocol === 'version=2')
      return void output.end(await this.#abilities(repository));
    const child = await this.#start(
      [service, '--stateless-rpc', '--advertise-refs', '.'],
      repository,
      protocol,
      signal,
    );
    child.stdin.end();
    await Promise.all([pipeline(child.stdout, output, { end: options.end ?? true }), this.#complaints(child, service)]);
  }

  /** Version 2 begins with what git can do, which is the same for every repository of ours: it is asked once. */
  #abilities(repository: Repository): Promise<Buffer> {
    const args = ['upload-pack', '--stateless-rpc', '--advertise-refs', '.'];
    const { git, folder } = this.#parts;
    const environment = { GIT_PROTOCOL: 'version=2' };
    this.#known ??= git.run(folder(repository), args, { environment }).then(({ stdout }) => stdout);
    this.#known.catch(() => (this.#known = undefined));
    return this.#known;
  }

  /** A fetch. `stateless`: the request is here as a whole, as over HTTP; else client and git talk to and fro. */
  async upload(
    repository: Repository,
    conversation: Conversation,
    { stateless }: { stateless: boolean },
  ): Promise<number> {
    const { input, output, protocol, signal } = conversation;
    const args = ['upload-pack', ...(stateless ? ['--stateless-rpc'] : []), '.'];
    const child = await this.#start(args, repository, protocol, signal);
    return this.#converse(child, 'upload-pack', input, output);
  }

  /** What `git archive --remote` asks for. */
  async archive(repository: Repository, { input, output, protocol, signal }: Conversation): Promise<number> {
    const child = await this.#start(['upload-archive', '.'], repository, protocol, signal);
    return this.#converse(child, 'upload-archive', input, output);
  }

  /** A push, after its {@link advertise}. Its client hears that it succeeded when everything else knows as well. */
  async receive(repository: Repository, pusher: Pusher, conversation: Conversation): Promise<void> {
    const { input, output, protocol, signal } = conversation;
    const { git, folder, pushes, rules } = this.#parts;
    const push = await readPushRequest(input);
    if (push === undefined || push.changes.length === 0) {
      output.end();
      return;
    }
    const { account } = pusher;
    const { addOnly, refused } = await rules(repository, push, pusher);
    if (refused.size > 0) {
      input.resume();
      output.end(refusal(push, refused));
      return;
    }
    // Once git has the push it is brought to its end, whether its client waits for the answer or not.
    const child = await this.#start(['receive-pack', '--stateless-rpc', '.'], repository, protocol, undefined, addOnly);
    const report = new PushReport(push);
    child.stdout.pipe(report);
    const answered = forward(report, output);
    const ended = Promise.all([child.exited, this.#complaints(child, 'receive-pack')]);
    // They are awaited further below, and may fail before.
    for (const each of [answered, ended]) each.catch(() => undefined);
    const settled = async (id: string): Promise<void> => {
      const reports = push.capabilities.has('report-status') || push.capabilities.has('report-status-v2');
      const made = reports ? report.made(push.changes) : await changesMade(git, folder(repository), push.changes);
      await pushes.settle(id, repository, account, made);
      if (made.length > 0 && pusher.administers === true) await this.#parts.pushOptions(repository, push.options);
      report.release();
    };
    const cut = (): void => void child.stdin.destroy();
    signal.addEventListener('abort', cut, { once: true });
    try {
      // Git changes nothing before it is fed.
      const id = await pushes.begin(repository, account, push.changes);
      void feed(input, child.stdin, push.bytes);
      await ended;
      await settled(id);
      await answered;
    } catch (error) {
      await child.stop();
      report.destroy();
      await answered.catch(() => undefined);
      throw error;
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  async #converse(child: RunningChild, name: string, input: Readable, output: Writable): Promise<number> {
    output.once('close', () => void child.stop());
    void feed(input, child.stdin);
    await Promise.all([forward(child.stdout, output), this.#complaints(child, name)]);
    return (await child.exited).code ?? 128;
  }

  #start(
    args: readonly string[],
    repository: Repository,
    protocol: string | undefined,
    signal?: AbortSignal,
    addOnly: readonly string[] = [],
  ): Promise<RunningChild> {
    const guard = addOnly.length === 0 ? undefined : this.#parts.git.guard(addOnly);
    return this.#parts.git.start(this.#parts.folder(repository), args, {
      environment: { ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }), ...guard?.environment },
      config: [...(guard?.config ?? []), ...this.#limits(args)],
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #limits([command]: readonly string[]): readonly string[] {
    const maxBytes = this.#parts.maxPushBytes();
    return command === 'receive-pack' && maxBytes > 0 ? [`receive.maxInputSize=${maxBytes}`] : [];
  }

  async #complaints(child: RunningChild, name: string): Promise<void> {
    const words = await errorsOf(child);
    if (words !== '') this.#parts.context.log.debug('git said', { name, words: words.slice(0, 500) });
  }
}

/** What a client may ask for as its protocol; anything else is not handed on. */
export function protocolOf(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= 200 && /^version=[0-2](:[a-z0-9=-]+)*$/.test(text) ? text : undefined;
}
