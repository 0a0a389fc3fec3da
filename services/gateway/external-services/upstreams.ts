import type { DispatchHandlers, DispatchContext, DispatchTarget } from '../../contracts/dispatch.ts';
import { hostFor, parseUpstream, type Upstream } from '../domain/upstream.ts';
import { UpstreamConnections } from './connections.ts';
import { Http2Proxy } from './http2-proxy.ts';
import { proxyTo, type ProxyParts } from './proxy.ts';

interface UpstreamParts {
  readonly context: Pick<DispatchContext, 'addresses' | 'connect' | 'log' | 'publicUrl' | 'targets'>;
  readonly settings: Readonly<{
    outside: readonly string[];
    outsideHosts: readonly string[];
    outsideUnverified: readonly string[];
  }>;
  readonly refuse: ProxyParts['refuse'];
}

interface Open {
  readonly of: string;
  readonly dispatched: DispatchHandlers;
  /** Closes the connections. */
  readonly close: () => void;
}

/** External services of the settings. */
export class Upstreams implements Disposable {
  readonly #parts: UpstreamParts;
  readonly #open = new Map<string, Open>();
  #listed: { readonly of: readonly string[]; readonly upstreams: readonly Upstream[] } | undefined;

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
  }

  /** Messages about invalid settings. */
  get problems(): readonly string[] {
    const taken = new Set(this.#parts.context.targets().map(({ id }) => id));
    const all = this.#all;
    return all
      .filter(({ id }, at) => taken.has(id) || all.findIndex((other) => other.id === id) !== at)
      .map(({ id, url }) => `${url} needs another name: there is a service called ${id} already.`);
  }

  /** External services with a host name. */
  list(): readonly Upstream[] {
    const { outside } = this.#parts.settings;
    if (this.#listed?.of !== outside) {
      const taken = new Set(this.#parts.context.targets().map(({ id }) => id));
      const byId = new Map(this.#all.toReversed().map((each) => [each.id, each]));
      this.#listed = { of: outside, upstreams: [...byId.values()].toReversed().filter(({ id }) => !taken.has(id)) };
    }
    return this.#listed.upstreams;
  }

  has(id: string): boolean {
    return this.list().some((each) => each.id === id);
  }

  /** Returns the external services in the form of Homeport services. */
  targets(): readonly DispatchTarget[] {
    return this.list().map(({ id, port }) => ({
      // The address is not shown before the sign-in.
      ...{ id, title: id, summary: '', group: undefined, port, authenticates: false, needsRoot: true, hosts: [] },
    }));
  }

  /** Returns undefined for an unknown name. */
  dispatched(id: string): DispatchHandlers | undefined {
    const { context, settings, refuse } = this.#parts;
    const upstream = this.list().find((each) => each.id === id);
    if (upstream === undefined) return undefined;
    const verify = !settings.outsideUnverified.includes(id);
    const of = `${upstream.url} ${String(verify)}`;
    const before = this.#open.get(id);
    if (before?.of === of) return before.dispatched;
    before?.close();
    const connections = new UpstreamConnections(context, upstream, verify);
    const parts = { context, refuse, host: () => hostFor(id, settings.outsideHosts) };
    if (upstream.protocol === 'h2c') {
      const proxy = new Http2Proxy(id, { ...parts, open: () => connections.open() });
      this.#open.set(id, { of, dispatched: proxy, close: () => proxy[Symbol.dispose]() });
      return proxy;
    }
    const dispatched = proxyTo(id, { ...parts, agent: connections });
    this.#open.set(id, { of, dispatched, close: () => connections.destroy() });
    return dispatched;
  }

  /** Closes connections to external services that were removed. */
  renew(): void {
    const named = new Set(this.list().map(({ id }) => id));
    for (const [id, { close }] of this.#open) {
      if (named.has(id)) continue;
      close();
      this.#open.delete(id);
    }
  }

  [Symbol.dispose](): void {
    for (const { close } of this.#open.values()) close();
    this.#open.clear();
  }

  get #all(): readonly Upstream[] {
    return this.#parts.settings.outside.flatMap((text) => parseUpstream(text) ?? []);
  }
}
