import * as m from '#messages/gateway-problems';
import * as texts from '#messages/gateway-texts';
import type { DispatchHandlers, DispatchContext, DispatchTarget } from '../../contracts/dispatch.ts';
import type { Text } from '../../contracts/text.ts';
import { findUpstreamHost, parseUpstream, type Upstream } from '../domain/upstream.ts';
import { UpstreamConnections } from './connections.ts';
import { Http2Proxy } from './http2-proxy.ts';
import { Http1Proxy, type ProxyDependencies } from './proxy.ts';

interface UpstreamDependencies {
  readonly context: Pick<DispatchContext, 'addresses' | 'connect' | 'log' | 'publicUrl' | 'targets'>;
  readonly settings: Readonly<{
    outside: readonly string[];
    outsideHosts: readonly string[];
    outsideUnverified: readonly string[];
  }>;
  readonly refuse: ProxyDependencies['refuse'];
}

interface OpenProxy {
  readonly key: string;
  readonly handlers: DispatchHandlers;
  /** Closes the connections. */
  readonly close: () => void;
}

/** External services of the settings. */
export class Upstreams implements Disposable {
  readonly #deps: UpstreamDependencies;
  readonly #proxies = new Map<string, OpenProxy>();
  #cachedList: { readonly key: readonly string[]; readonly upstreams: readonly Upstream[] } | undefined;

  constructor(deps: UpstreamDependencies) {
    this.#deps = deps;
  }

  /** Messages about invalid settings. */
  get problems(): readonly Text[] {
    const usedIds = new Set(this.#deps.context.targets().map(({ id }) => id));
    const all = this.#all;
    return all
      .filter(({ id }, index) => usedIds.has(id) || all.findIndex((other) => other.id === id) !== index)
      .map(
        ({ id, url }) =>
          () =>
            m.externalNameTaken({ url, id }),
      );
  }

  /** External services with a host name. */
  list(): readonly Upstream[] {
    const { outside } = this.#deps.settings;
    if (this.#cachedList?.key !== outside) {
      const usedIds = new Set(this.#deps.context.targets().map(({ id }) => id));
      const byId = new Map(this.#all.toReversed().map((each) => [each.id, each]));
      this.#cachedList = {
        key: outside,
        upstreams: [...byId.values()].toReversed().filter(({ id }) => !usedIds.has(id)),
      };
    }
    return this.#cachedList.upstreams;
  }

  has(id: string): boolean {
    return this.list().some((each) => each.id === id);
  }

  /** Returns the external services in the form of Homeport services. */
  targets(): readonly DispatchTarget[] {
    return this.list().map(({ id, port }) => ({
      // The address is not shown before the sign-in.
      id,
      title: id,
      summary: '',
      sharedSummary: texts.homeExternalSummary(),
      group: undefined,
      port,
      authenticates: false,
      needsRoot: true,
      hosts: [],
    }));
  }

  /** Returns undefined for an unknown name. */
  handlers(id: string): DispatchHandlers | undefined {
    const { context, settings, refuse } = this.#deps;
    const upstream = this.list().find((each) => each.id === id);
    if (upstream === undefined) return undefined;
    const verify = !settings.outsideUnverified.includes(id);
    const key = `${upstream.url} ${String(verify)}`;
    const existing = this.#proxies.get(id);
    if (existing?.key === key) return existing.handlers;
    existing?.close();
    const connections = new UpstreamConnections(context, upstream, verify);
    const deps = { context, refuse, host: () => findUpstreamHost(id, settings.outsideHosts) };
    if (upstream.protocol === 'h2c') {
      const proxy = new Http2Proxy(id, { ...deps, open: () => connections.open() });
      this.#proxies.set(id, { key, handlers: proxy, close: () => proxy[Symbol.dispose]() });
      return proxy;
    }
    const proxy = new Http1Proxy(id, { ...deps, agent: connections });
    this.#proxies.set(id, { key, handlers: proxy, close: () => connections.destroy() });
    return proxy;
  }

  /** Closes connections to external services that were removed. */
  renew(): void {
    const listedIds = new Set(this.list().map(({ id }) => id));
    for (const [id, { close }] of this.#proxies) {
      if (listedIds.has(id)) continue;
      close();
      this.#proxies.delete(id);
    }
  }

  [Symbol.dispose](): void {
    for (const { close } of this.#proxies.values()) close();
    this.#proxies.clear();
  }

  get #all(): readonly Upstream[] {
    return this.#deps.settings.outside.flatMap((text) => parseUpstream(text) ?? []);
  }
}
