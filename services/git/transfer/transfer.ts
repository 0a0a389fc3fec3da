import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunningChild } from '../../contracts/children.ts';
import type { Context } from '../../contracts/service.ts';
import { readErrors, type Git } from '../engine/git.ts';
import type { Pusher } from '../protection/protections.ts';
import type { PushRules } from '../protection/push-rules.ts';
import type { Repository } from '../repositories/repositories.ts';
import { pipeInput, forwardOutput } from './streams.ts';
import { findAppliedChanges, type Pushes } from './pushes.ts';
import { PushReport, buildRejectionReport } from './push-report.ts';
import { readPushRequest } from './push-request.ts';

export type Service = 'upload-pack' | 'receive-pack';

export interface TransferDependencies {
  readonly context: Pick<Context, 'log'>;
  readonly git: Git;
  readonly folder: (repository: Repository) => string;
  readonly pushes: Pushes;
  readonly rules: PushRules;
  /** Maximum size of a push in bytes; 0 for no limit. The setting is live. */
  readonly maxPushBytes: () => number;
  /** Applies the push options for the repository. */
  readonly pushOptions: (repository: Repository, options: readonly string[]) => Promise<void>;
}

/** Connection of a git client to one command. */
export interface Conversation {
  readonly input: Readable;
  readonly output: Writable;
  /** `GIT_PROTOCOL` of the client. */
  readonly protocol: string | undefined;
  readonly signal: AbortSignal;
}

/** Transfers packs between clients and repositories with git child processes. */
export class Transfer {
  readonly #dependencies: TransferDependencies;
  #capabilities: Promise<Buffer> | undefined;

  constructor(deps: TransferDependencies) {
    this.#dependencies = deps;
  }

  /**
   * Ensures that repositories can be read, before the first byte of a response.
   * @throws Problem (503) if the folder with the repositories is not available
   */
  ensureAvailable(): Promise<void> {
    return this.#dependencies.git.ensureRepositories({ now: true });
  }

  /** Sends the references and capabilities of the server, which start every conversation. */
  async advertise(
    service: Service,
    repository: Repository,
    { output, protocol, signal }: Omit<Conversation, 'input'>,
    options: { readonly end?: boolean } = {},
  ): Promise<void> {
    if (service === 'upload-pack' && protocol === 'version=2')
      return void output.end(await this.#readCapabilities(repository));
    const child = await this.#start(
      [service, '--stateless-rpc', '--advertise-refs', '.'],
      repository,
      protocol,
      signal,
    );
    child.stdin.end();
    await Promise.all([pipeline(child.stdout, output, { end: options.end ?? true }), this.#logErrors(child, service)]);
  }

  /** Returns the capabilities of protocol version 2. They are the same for every repository and therefore cached. */
  #readCapabilities(repository: Repository): Promise<Buffer> {
    const args = ['upload-pack', '--stateless-rpc', '--advertise-refs', '.'];
    const { git, folder } = this.#dependencies;
    const environment = { GIT_PROTOCOL: 'version=2' };
    this.#capabilities ??= git.run(folder(repository), args, { environment }).then(({ stdout }) => stdout);
    this.#capabilities.catch(() => (this.#capabilities = undefined));
    return this.#capabilities;
  }

  /** Serves a fetch. With `stateless`, the input is one complete request as over HTTP; otherwise it is a dialog. */
  async upload(
    repository: Repository,
    conversation: Conversation,
    { stateless }: { stateless: boolean },
  ): Promise<number> {
    const { input, output, protocol, signal } = conversation;
    const args = ['upload-pack', ...(stateless ? ['--stateless-rpc'] : []), '.'];
    const child = await this.#start(args, repository, protocol, signal);
    return this.#runConversation(child, 'upload-pack', input, output);
  }

  /** Serves `git archive --remote`. */
  async archive(repository: Repository, { input, output, protocol, signal }: Conversation): Promise<number> {
    const child = await this.#start(['upload-archive', '.'], repository, protocol, signal);
    return this.#runConversation(child, 'upload-archive', input, output);
  }

  /** Serves a push after its {@link advertise}. The client receives the report after the push was recorded. */
  async receive(repository: Repository, pusher: Pusher, conversation: Conversation): Promise<void> {
    const { input, output, protocol, signal } = conversation;
    const { git, folder, pushes, rules } = this.#dependencies;
    const push = await readPushRequest(input);
    if (push === undefined || push.changes.length === 0) {
      output.end();
      return;
    }
    const { account } = pusher;
    const { addOnly, rejected } = await rules(repository, push, pusher);
    if (rejected.size > 0) {
      input.resume();
      output.end(buildRejectionReport(push, rejected));
      return;
    }
    // Git finishes the push even if the client disconnects, because its input has been validated.
    const child = await this.#start(['receive-pack', '--stateless-rpc', '.'], repository, protocol, undefined, addOnly);
    const report = new PushReport(push);
    child.stdout.pipe(report);
    const response = forwardOutput(report, output);
    const exited = Promise.all([child.exited, this.#logErrors(child, 'receive-pack')]);
    // These promises are awaited below and may reject before that.
    for (const each of [response, exited]) each.catch(() => undefined);
    const settle = async (id: string): Promise<void> => {
      const supportsReport = push.capabilities.has('report-status') || push.capabilities.has('report-status-v2');
      const applied = supportsReport
        ? report.filterSuccessful(push.changes)
        : await findAppliedChanges(git, folder(repository), push.changes);
      await pushes.settle(id, repository, account, applied);
      if (applied.length > 0 && pusher.isAdministrator === true)
        await this.#dependencies.pushOptions(repository, push.options);
      report.release();
    };
    const abortInput = (): void => void child.stdin.destroy();
    signal.addEventListener('abort', abortInput, { once: true });
    let id: string | undefined;
    try {
      // Git changes nothing before it receives the commands.
      id = await pushes.begin(repository, account, push.changes);
      void pipeInput(input, child.stdin, push.bytes);
      await exited;
      await settle(id);
      await response;
    } catch (error) {
      await child.stop();
      if (id !== undefined) pushes.abandon(id);
      report.destroy();
      await response.catch(() => undefined);
      throw error;
    } finally {
      signal.removeEventListener('abort', abortInput);
    }
  }

  async #runConversation(child: RunningChild, name: string, input: Readable, output: Writable): Promise<number> {
    output.once('close', () => void child.stop());
    void pipeInput(input, child.stdin);
    await Promise.all([forwardOutput(child.stdout, output), this.#logErrors(child, name)]);
    return (await child.exited).code ?? 128;
  }

  #start(
    args: readonly string[],
    repository: Repository,
    protocol: string | undefined,
    signal?: AbortSignal,
    addOnly: readonly string[] = [],
  ): Promise<RunningChild> {
    const guard = addOnly.length === 0 ? undefined : this.#dependencies.git.buildGuardOptions(addOnly);
    return this.#dependencies.git.start(this.#dependencies.folder(repository), args, {
      environment: { ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }), ...guard?.environment },
      config: [...(guard?.config ?? []), ...this.#limits(args)],
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #limits([command]: readonly string[]): readonly string[] {
    const maxBytes = this.#dependencies.maxPushBytes();
    return command === 'receive-pack' && maxBytes > 0 ? [`receive.maxInputSize=${maxBytes}`] : [];
  }

  async #logErrors(child: RunningChild, name: string): Promise<void> {
    const stderr = await readErrors(child);
    if (stderr !== '')
      this.#dependencies.context.log.debug('git wrote to stderr', { name, stderr: stderr.slice(0, 500) });
  }
}

/** Returns the protocol version of a client if it is valid. Other values are not passed to git. */
export function parseProtocol(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= 200 && /^version=[0-2](:[a-z0-9=-]+)*$/.test(text) ? text : undefined;
}
