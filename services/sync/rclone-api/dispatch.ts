import { shownPlace } from '../domain/place.ts';
import { redacted, withoutHidden } from '../domain/redact.ts';
import type { Engine, EngineAnswer } from '../engine/engine.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobIds } from '../jobs/ids.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { stoppedBy } from '../jobs/stopped-by.ts';
import type { Access, Caller } from './access.ts';
import { CallError } from './call-error.ts';
import { calls, refused, type CallRule } from './calls.ts';
import { isTrue, type Input } from './input.ts';
import type { ownCalls } from './own-calls.ts';

/** How a call came, beside its input. */
export interface CallManner {
  /** `Prefer: respond-async` or `_async`. */
  readonly isAsync: boolean;
  /** Aborts when the caller disconnects, which stops a job that it waits for. */
  readonly left?: AbortSignal | undefined;
}

/** What a call answers. */
export interface CallAnswer extends EngineAnswer {
  /** None for a call that did not come to run. */
  readonly jobId?: number;
}

export interface DispatchParts {
  readonly access: Access;
  readonly jobs: Jobs;
  readonly ids: JobIds;
  readonly engine: () => Engine;
  readonly executeId: string;
  readonly own: ReturnType<typeof ownCalls>;
  /** In place of the engine, where it is missing and something of ours can do it. */
  readonly without: (path: string, input: Input) => Promise<((job: Job) => Promise<JobOutcome>) | undefined>;
}

const mostTogether = 64;
const readsSecrets = new Set(['config/get', 'config/dump', 'options/get', 'options/local', 'options/info']);
const writesParameters = new Set(['config/create', 'config/update', 'config/password']);

/** From a call to its answer. */
export class Dispatch {
  readonly #parts: DispatchParts;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
  }

  /** @throws CallError for what does not come to run; `jobId` on those that failed as they ran. */
  async call(caller: Caller, path: string, given: Input, manner: CallManner): Promise<CallAnswer> {
    const { _async: flag, ...input } = given;
    const isAsync = manner.isAsync || isTrue(flag);
    if (refused.has(path)) throw new CallError(403, `"${path}" is never done here`);
    const made = { path, input, isAsync, left: manner.left };
    if (path === 'job/batch') return this.#own(caller, made, (left) => this.#batch(caller, input, left));
    const own = Object.hasOwn(this.#parts.own, path) ? this.#parts.own[path] : undefined;
    if (own !== undefined) return this.#own(caller, made, () => own(input, caller));
    if (path === 'rc/list') return this.#forward(caller, isAsync, path, {}, input, manner);
    const rule = Object.hasOwn(calls, path) ? calls[path] : undefined;
    if (rule === undefined) throw new CallError(404, `couldn't find method ${JSON.stringify(path)}`);
    return this.#forward(caller, isAsync, path, rule, input, manner);
  }

  async #own(
    caller: Caller,
    { path, input, isAsync, left }: CallManner & { readonly path: string; readonly input: Input },
    work: (stopping: AbortSignal | undefined) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<CallAnswer> {
    const answer = async (stopping: AbortSignal | undefined): Promise<EngineAnswer> => {
      try {
        return { status: 200, body: await work(stopping) };
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return { status: error.status, body: { error: error.message } };
      }
    };
    if (!isAsync) return { ...(await answer(left)), jobId: await this.#parts.ids.take() };
    const order = {
      kind: path,
      account: caller.account,
      input,
      group: groupOf(input),
      durable: false,
      isAsync: true,
      work: (running: Job) => answer(running.stopping.signal),
    };
    const { job } = await this.#parts.jobs.begin(order);
    return this.#begun(job);
  }

  async #forward(
    caller: Caller,
    isAsync: boolean,
    path: string,
    rule: CallRule,
    given: Input,
    { left }: CallManner,
  ): Promise<CallAnswer> {
    const { access, jobs, engine, without } = this.#parts;
    const { _group: _, ...checked } = path === 'rc/list' ? {} : await access.check(caller, path, rule, given);
    const input: Input = checked;
    if (writesParameters.has(path)) input['parameters'] = parametersOf(input['parameters']);
    const { writes = [] } = rule;
    const isWriting = writes.length > 0 && writes.every((key) => Object.hasOwn(input, key));
    const from = rule.from === undefined ? '' : shownPlace(input[rule.from]);
    const instead = await without(path, input);
    const { job, ended } = await jobs.begin({
      ...{ kind: path, account: caller.account, input, group: groupOf(given), source: from },
      destination: shownPlace(input[writes.at(-1) ?? '']),
      isAsync,
      durable: isWriting || (isAsync && !readsSecrets.has(path)),
      writes: isWriting ? writes.map((key) => input[key]) : [],
      ...(instead === undefined
        ? { ...(readsSecrets.has(path) || path === 'rc/list' ? { work: () => this.#ask(engine(), path, input) } : {}) }
        : { work: instead }),
    });
    if (isAsync) return this.#begun(job);
    const answer = await stoppedBy(left, jobs, job, ended);
    if (answer.status === 200 && (path === 'core/bwlimit' || path === 'options/set')) {
      engine().keep(path === 'core/bwlimit' ? path : JSON.stringify(input), path, input);
    }
    return { ...answer, body: job.error === '' ? answer.body : { ...answer.body, error: job.error }, jobId: job.id };
  }

  /** What may hold a secret, or names what we never do, leaves without it. */
  async #ask(engine: Engine, path: string, input: Input): Promise<EngineAnswer> {
    const { status, body } = await engine.call(path, input);
    if (path !== 'rc/list') return { status, body: redacted(body) as Record<string, unknown> };
    const commands = body['commands'];
    if (!Array.isArray(commands)) return { status, body };
    const kept = (commands as { Path: string }[]).filter(({ Path }) => !refused.has(Path));
    return { status, body: { ...body, commands: kept } };
  }

  #begun(job: Job): CallAnswer {
    return { status: 200, body: { executeId: this.#parts.executeId, jobid: job.id }, jobId: job.id };
  }

  async #batch(caller: Caller, input: Input, left: AbortSignal | undefined): Promise<Record<string, unknown>> {
    const { inputs } = input;
    if (!Array.isArray(inputs)) throw new CallError(400, `Didn't find key "inputs" in input`);
    const given = Number(input['concurrency'] ?? 4);
    const together = Number.isSafeInteger(given) ? Math.min(Math.max(given, 1), mostTogether) : 4;
    const results: unknown[] = [];
    const list = inputs as readonly Readonly<Record<string, unknown>>[];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < list.length; index = next++) {
        if (left?.aborted === true) throw new CallError(500, 'context canceled');
        results[index] = await this.#item(caller, list[index] ?? {}, left);
      }
    };
    await Promise.all(Array.from({ length: together }, worker));
    return { results };
  }

  async #item(
    caller: Caller,
    { _path: path, ...input }: Readonly<Record<string, unknown>>,
    left: AbortSignal | undefined,
  ): Promise<unknown> {
    const name = typeof path === 'string' ? path : '';
    const failed = (error: unknown, status: number) => ({ error, input: redacted(input), path: name, status });
    try {
      if (name === '') throw new CallError(400, `Didn't find key "_path" in input`);
      if (name === 'job/batch') throw new CallError(400, 'a batch holds no batch');
      const { status, body } = await this.call(caller, name, input, { isAsync: false, left });
      return status === 200 ? body : failed(body['error'], status);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return failed(error.message.replace("couldn't find method", "couldn't find path"), error.status);
    }
  }
}

function groupOf({ _group: group }: Input): string | undefined {
  return typeof group === 'string' && group !== '' ? group : undefined;
}

function parametersOf(given: unknown): unknown {
  if (typeof given === 'string') {
    try {
      return parametersOf(JSON.parse(given));
    } catch (error) {
      if (error instanceof SyntaxError) return given;
      throw error;
    }
  }
  if (typeof given !== 'object' || given === null) return given;
  return withoutHidden(given as Record<string, unknown>);
}
