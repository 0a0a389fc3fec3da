import { formatLocation } from '../domain/location.ts';
import { redact, removeRedacted } from '../domain/redact.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineResponse } from '../engine/engine-client.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobIds } from '../jobs/job-ids.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { stopOnAbort } from '../jobs/stop-on-abort.ts';
import type { Access, Caller } from '../access/access.ts';
import { CallError } from '../access/call-error.ts';
import { calls, refusedCalls, type CallRule } from '../access/calls.ts';
import type { Input } from '../access/input.ts';
import { isTrue } from './input.ts';
import type { buildAppCalls } from './app-calls.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Properties of a call in addition to its input. */
export interface CallOptions {
  /** True with `Prefer: respond-async` or `_async`. */
  readonly isAsync: boolean;
  /** Aborts when the client disconnects, which stops the job that it waits for. */
  readonly disconnected?: AbortSignal | undefined;
}

/** Response of a call. */
export interface CallResponse extends EngineResponse {
  /** ID of the job; undefined if the call did not start. */
  readonly jobId?: number;
}

export interface DispatchOptions {
  readonly access: Access;
  readonly jobs: Jobs;
  readonly ids: JobIds;
  readonly engine: Engine;
  readonly executeId: string;
  readonly appCalls: ReturnType<typeof buildAppCalls>;
  /** Returns the work of the built-in engine if rclone is missing and the call is supported. */
  readonly findBuiltIn: (path: string, input: Input) => Promise<((job: Job) => Promise<JobOutcome>) | undefined>;
}

const maxConcurrency = 64;
const readsSecrets = new Set(['config/get', 'config/dump', 'options/get', 'options/local', 'options/info']);
const writesParameters = new Set(['config/create', 'config/update', 'config/password']);

/** Routes calls to the engine or to Homeport's own implementation. */
export class Dispatch {
  readonly #options: DispatchOptions;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** Executes a call. @throws CallError if the call does not start. A call that fails later has a `jobId`. */
  async call(caller: Caller, path: string, rawInput: Input, options: CallOptions): Promise<CallResponse> {
    const { _async: flag, ...input } = rawInput;
    const isAsync = options.isAsync || isTrue(flag);
    if (refusedCalls.has(path)) throw new CallError(403, `"${path}" is never done here`);
    const request = { path, input, isAsync, disconnected: options.disconnected };
    if (path === 'job/batch')
      return this.#runAppCall(caller, request, (disconnected) => this.#runBatch(caller, input, disconnected));
    const appCall = Object.hasOwn(this.#options.appCalls, path) ? this.#options.appCalls[path] : undefined;
    if (appCall !== undefined) return this.#runAppCall(caller, request, () => appCall(input, caller));
    if (path === 'rc/list') return this.#forward(caller, isAsync, path, {}, input, options);
    const rule = Object.hasOwn(calls, path) ? calls[path] : undefined;
    if (rule === undefined) throw new CallError(404, `couldn't find method ${JSON.stringify(path)}`);
    return this.#forward(caller, isAsync, path, rule, input, options);
  }

  async #runAppCall(
    caller: Caller,
    { path, input, isAsync, disconnected }: CallOptions & { readonly path: string; readonly input: Input },
    work: (stopping: AbortSignal | undefined) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<CallResponse> {
    const response = async (stopping: AbortSignal | undefined): Promise<EngineResponse> => {
      try {
        return { status: 200, body: await work(stopping) };
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return { status: error.status, body: { error: error.message } };
      }
    };
    if (!isAsync) return { ...(await response(disconnected)), jobId: await this.#options.ids.take() };
    const jobRequest = {
      kind: path,
      account: caller.account,
      input,
      group: getGroup(input),
      durable: false,
      isAsync: true,
      work: (running: Job) => response(running.stopping.signal),
    };
    const { job } = await this.#options.jobs.start(jobRequest);
    return this.#toStartedResponse(job);
  }

  async #forward(
    caller: Caller,
    isAsync: boolean,
    path: string,
    rule: CallRule,
    rawInput: Input,
    { disconnected }: CallOptions,
  ): Promise<CallResponse> {
    const { access, jobs, engine, findBuiltIn } = this.#options;
    const { _group: _, ...checked } = path === 'rc/list' ? {} : await access.check(caller, path, rule, rawInput);
    const input: Input = checked;
    if (writesParameters.has(path)) input['parameters'] = parseParameters(input['parameters']);
    const { writes = [] } = rule;
    const isWriting = writes.length > 0 && writes.every((key) => Object.hasOwn(input, key));
    const source = rule.from === undefined ? '' : formatLocation(input[rule.from]);
    const builtInWork = await findBuiltIn(path, input);
    const { job, ended } = await jobs.start({
      kind: path,
      account: caller.account,
      input,
      group: getGroup(rawInput),
      source,
      destination: formatLocation(input[writes.at(-1) ?? '']),
      isAsync,
      durable: isWriting || (isAsync && !readsSecrets.has(path)),
      writes: isWriting ? writes.map((key) => input[key]) : [],
      ...(builtInWork === undefined
        ? {
            ...(readsSecrets.has(path) || path === 'rc/list'
              ? { work: () => this.#callEngine(engine, path, input) }
              : {}),
          }
        : { work: builtInWork }),
    });
    if (isAsync) return this.#toStartedResponse(job);
    const response = await stopOnAbort(disconnected, jobs, job, ended);
    if (response.status === 200 && (path === 'core/bwlimit' || path === 'options/set')) {
      engine.addRepeatedCall(path === 'core/bwlimit' ? path : JSON.stringify(input), path, input);
    }
    return {
      ...response,
      body: job.error === '' ? response.body : { ...response.body, error: job.error },
      jobId: job.id,
    };
  }

  /** Calls the engine and removes secrets and refused commands from the response. */
  async #callEngine(engine: Engine, path: string, input: Input): Promise<EngineResponse> {
    const { status, body } = await engine.call(path, input);
    if (path !== 'rc/list') return { status, body: redact(body) as Record<string, unknown> };
    const commands = body['commands'];
    if (!Array.isArray(commands)) return { status, body };
    const allowedCommands = (commands as { Path: string }[]).filter(({ Path }) => !refusedCalls.has(Path));
    return { status, body: { ...body, commands: allowedCommands } };
  }

  #toStartedResponse(job: Job): CallResponse {
    return { status: 200, body: { executeId: this.#options.executeId, jobid: job.id }, jobId: job.id };
  }

  async #runBatch(
    caller: Caller,
    input: Input,
    disconnected: AbortSignal | undefined,
  ): Promise<Record<string, unknown>> {
    const { inputs } = input;
    if (!Array.isArray(inputs)) throw new CallError(400, `Didn't find key "inputs" in input`);
    const rawInput = Number(input['concurrency'] ?? 4);
    const concurrency = Number.isSafeInteger(rawInput) ? Math.min(Math.max(rawInput, 1), maxConcurrency) : 4;
    const results: unknown[] = [];
    const list = inputs as readonly Readonly<Record<string, unknown>>[];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < list.length; index = next++) {
        if (disconnected?.aborted === true) throw new CallError(500, 'context canceled');
        results[index] = await this.#runBatchItem(caller, list[index] ?? {}, disconnected);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return { results };
  }

  async #runBatchItem(
    caller: Caller,
    { _path: path, ...input }: Readonly<Record<string, unknown>>,
    disconnected: AbortSignal | undefined,
  ): Promise<unknown> {
    const name = typeof path === 'string' ? path : '';
    const toFailure = (error: unknown, status: number) => ({ error, input: redact(input), path: name, status });
    try {
      if (name === '') throw new CallError(400, `Didn't find key "_path" in input`);
      if (name === 'job/batch') throw new CallError(400, 'a batch holds no batch');
      const { status, body } = await this.call(caller, name, input, { isAsync: false, disconnected });
      return status === 200 ? body : toFailure(body['error'], status);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return toFailure(error.message.replace("couldn't find method", "couldn't find path"), error.status);
    }
  }
}

function getGroup({ _group: group }: Input): string | undefined {
  return typeof group === 'string' && group !== '' ? group : undefined;
}

function parseParameters(rawInput: unknown): unknown {
  if (typeof rawInput === 'string') {
    const parsed = parseJson(rawInput);
    return parsed === undefined ? rawInput : parseParameters(parsed);
  }
  if (typeof rawInput !== 'object' || rawInput === null) return rawInput;
  return removeRedacted(rawInput as Record<string, unknown>);
}
