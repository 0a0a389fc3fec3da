import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DispatchHandlers } from '../../../services/contracts/dispatch.ts';
import { markGatewayRequest } from '../../../services/contracts/gateway.ts';
import type { ListenerHandler } from '../../../services/contracts/listeners.ts';
import { toAbortedProblem } from '../../../services/kit/http/disconnect-signal.ts';
import { addHeaders } from '../../../services/kit/http/respond.ts';
import type { PartLog } from '../log/log.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import { recordRequest, type AccessOptions } from './access.ts';
import type { Connections } from './connections.ts';
import { createGuard, type Guard, type GuardPolicy } from './guard.ts';
import { toHostProblem } from './problem-reply.ts';
import { buildNotRunningProblem, closeAfterProblem, createResponseOnSocket, sendRefusal } from './refusal.ts';
import { RunningRequests } from './running.ts';

export interface ExchangeOptions {
  /** Service id for log and metrics. */
  readonly service: string;
  /** Undefined while the service is not running. */
  readonly handler: ListenerHandler | undefined;
  readonly guard: GuardPolicy;
  readonly log: PartLog;
  readonly metrics: RequestMetrics;
  /** Measures the synchronous part of each request. */
  readonly loop?: LoopWatch;
  /** Returns whether the host is about to stop: connections end with their current response. */
  readonly isLeaving?: () => boolean;
  /** Level of the access log. Default `debug`. */
  readonly accessLog?: 'debug' | 'info';
}

/** Passes the requests and connections of a listener to its service, with guard, access log and request metrics. */
export class ExchangeHandler {
  readonly running = new RunningRequests();
  readonly #connections: Connections;
  readonly #access: AccessOptions;
  readonly #loop: LoopWatch | undefined;
  readonly #isLeaving: () => boolean;
  #handler: ListenerHandler | undefined;
  #policy: GuardPolicy;
  #guard: Guard;
  #refuse: NonNullable<GuardPolicy['refuse']>;
  #isDraining = false;
  /** Cached by the caller's host names, since it is requested for each request. */
  #dispatchHandlers:
    { readonly hosts: readonly string[]; readonly policy: GuardPolicy; readonly to: DispatchHandlers } | undefined;

  constructor(
    { service, handler, guard, log, metrics, loop, isLeaving, accessLog }: ExchangeOptions,
    connections: Connections,
  ) {
    this.#connections = connections;
    this.#access = { service, log, metrics, level: accessLog ?? 'debug' };
    this.#loop = loop;
    this.#isLeaving = isLeaving ?? ((): boolean => false);
    this.#handler = handler;
    this.#policy = guard;
    this.#guard = createGuard(guard);
    this.#refuse = guard.refuse ?? sendRefusal;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Returns whether the service accepts WebSocket connections. */
  get acceptsUpgrades(): boolean {
    return this.#handler?.upgrade !== undefined;
  }

  /** Replaces the handler from the next request on; a guard replaces the former one. */
  replaceHandler(handler: ListenerHandler | undefined, guard?: GuardPolicy): void {
    this.#handler = handler;
    if (guard === undefined) return;
    this.#policy = guard;
    this.#guard = createGuard(guard);
    this.#refuse = guard.refuse ?? sendRefusal;
  }

  /** Ends connections with their current response, and accepts no further ones. */
  startDraining(): void {
    this.#isDraining = true;
  }

  /** Returns handlers for requests that arrived at another listener with these host names. */
  createDispatchHandlers(hosts: readonly string[]): DispatchHandlers {
    const policy = this.#policy;
    if (this.#dispatchHandlers?.hosts === hosts && this.#dispatchHandlers.policy === policy) {
      return this.#dispatchHandlers.to;
    }
    const guard = createGuard({ ...policy, hosts: [...(policy.hosts ?? []), ...hosts] });
    const to: DispatchHandlers = {
      request: (request, response) => {
        markGatewayRequest(request);
        this.handleRequest(request, response, guard);
      },
      upgrade: (request, socket, head) => {
        markGatewayRequest(request);
        this.handleUpgrade(request, socket, head, guard);
      },
    };
    this.#dispatchHandlers = { hosts, policy, to };
    return to;
  }

  handleRequest(request: IncomingMessage, response: ServerResponse, guard = this.#guard): void {
    if (this.#connections.isAnswered(request.socket)) return void request.destroy();
    const { service } = this.#access;
    // The host watches its end in several places (twice behind the gateway), in addition to the service and its streams.
    response.setMaxListeners(20);
    this.#connections.startExchange({ request, response });
    this.running.add(response);
    // A write after a disconnect emits an error on the response, which would end the process when unhandled.
    response.on('error', ignoreError);
    recordRequest(request, response, this.#access);
    if (this.#isDraining || this.#isLeaving()) addHeaders(response, { Connection: 'close' });
    try {
      const problem =
        guard.check(request) ?? (this.#handler?.http === undefined ? buildNotRunningProblem() : undefined);
      if (problem !== undefined) this.#refuse(request, response, closeAfterProblem(response, request, problem));
      else if (!guard.answerCors(request, response)) {
        const start = this.#loop?.begin(service, 'a request') ?? 0;
        const result: unknown = this.#handler?.http?.(request, response);
        this.#loop?.end(service, 'a request', start);
        if (result instanceof Promise) result.catch((error: unknown) => this.#fail(request, response, error));
      }
    } catch (error) {
      this.#fail(request, response, error);
    }
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, guard = this.#guard): void {
    if (this.#connections.isAnswered(request.socket)) return void socket.destroy();
    const { service, log, metrics, level } = this.#access;
    socket.on('error', ignoreError);
    const start = performance.now();
    const problem =
      guard.checkUpgrade(request) ??
      (this.#handler?.upgrade === undefined || this.#isDraining ? buildNotRunningProblem() : undefined);
    if (problem !== undefined) {
      this.#refuse(request, createResponseOnSocket(socket as Socket, request, this.#access), problem);
      return;
    }
    socket.once('close', () => {
      const seconds = (performance.now() - start) / 1000;
      metrics.request(service, 'GET', 101, seconds);
      log[level]('websocket closed', { seconds: Math.round(seconds) });
    });
    try {
      this.#handler?.upgrade?.(request, socket, head);
    } catch (error) {
      toHostProblem(error, log, { service });
      socket.destroy();
    }
  }

  handleConnection(socket: Socket, leaving?: AbortSignal): void {
    if (socket.destroyed) return;
    socket.on('error', ignoreError);
    if (this.#handler?.tcp === undefined || this.#isDraining) return void socket.destroy();
    this.running.add(socket);
    try {
      this.#handler.tcp(socket, leaving);
    } catch (error) {
      const { service, log } = this.#access;
      log.error('connection handover failed', { service, error });
      socket.destroy();
    }
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const { service, log } = this.#access;
    const problem = toHostProblem(toAbortedProblem(error, request), log, { service, method: request.method });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    try {
      this.#refuse(request, response, problem);
    } catch (rendering) {
      log.error('refusal rendering failed', { service, error: rendering });
      response.destroy();
    }
  }
}

/** Errors are handled by the `close` event of the connection. */
function ignoreError(): void {
  return undefined;
}
