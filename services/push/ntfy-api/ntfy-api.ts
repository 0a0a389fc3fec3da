import type { IncomingMessage, RequestListener } from 'node:http';
import type { UpgradeListener } from '../../contracts/listeners.ts';
import type { Context } from '../../contracts/service.ts';
import { isTopic } from '../domain/topics.ts';
import { registerNtfyMetrics } from '../metrics/ntfy-metrics.ts';
import type { Traffic } from '../metrics/traffic.ts';
import type { Delivery } from '../publish/delivery.ts';
import type { Settings } from '../settings.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import { createFileAddressRewrite, type FileAddressRewrite } from '../messages/file-addresses.ts';
import type { Visitors } from '../topics/visitors.ts';
import type { WebPush } from '../web-push/web-push.ts';
import type { ApiRoutes } from './api-routes.ts';
import { redirectBrowsers } from './browser-redirect.ts';
import { pushListener, readRequest, toProblem, type ListenerDependencies } from './listener.ts';
import { createNonTopicRoutes } from './non-topic-routes.ts';
import { PublishRoutes } from './publish.ts';
import { serverInfoRoutes } from './server-info.ts';
import { SubscribeRoutes, type OpenStreams } from './subscribe.ts';
import { webSocketListener } from './web-socket.ts';

/** Features whose state the API shows. */
export interface NtfyApiDependencies {
  /** Account, administration and web push routes. */
  readonly routes: ApiRoutes;
  readonly visitors: Visitors;
  readonly traffic: Traffic;
  readonly streams: OpenStreams;
  readonly delivery: Delivery;
  /** Returns true when messages can be forwarded as mail. */
  readonly sendsMail: () => boolean;
  readonly webPush: Pick<WebPush, 'publicKey'>;
}

/** Dependencies that requests and upgrades share. */
type RequestDependencies = Pick<ListenerDependencies, 'context' | 'visitors' | 'behindProxy' | 'refused'>;

/** API of ntfy: publishing, streams, accounts and files. */
export class NtfyApi {
  readonly http: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #derivedSettings: DerivedSettings;
  readonly #dependencies: NtfyApiDependencies;

  /** @param context Its accounts include the access to sync topics */
  constructor(
    context: Context,
    settings: Readonly<Settings>,
    derivedSettings: DerivedSettings,
    dependencies: NtfyApiDependencies,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#derivedSettings = derivedSettings;
    this.#dependencies = dependencies;
    const publish = this.#createPublishRoutes();
    const subscribe = this.#createSubscribeRoutes();
    const requestDependencies = this.#createRequestDependencies();
    this.http = this.#createListener(requestDependencies, publish, subscribe);
    this.upgrade = this.#createUpgradeListener(requestDependencies, subscribe);
  }

  #createPublishRoutes(): PublishRoutes {
    const { delivery, sendsMail, traffic, visitors } = this.#dependencies;
    return new PublishRoutes({
      context: this.#context,
      settings: this.#settings,
      derivedSettings: this.#derivedSettings,
      delivery,
      visitors,
      sendsMail,
      commitSeconds: traffic.metrics.commitSeconds,
      findFileRewrite: (request) => this.#findFileRewrite(request),
    });
  }

  #createSubscribeRoutes(): SubscribeRoutes {
    const { delivery, streams, traffic, visitors } = this.#dependencies;
    return new SubscribeRoutes({
      context: this.#context,
      settings: this.#settings,
      reserved: this.#derivedSettings.reservedTopics,
      delivery,
      visitors,
      streams,
      cut: traffic.metrics.cut,
      findFileRewrite: (request) => this.#findFileRewrite(request),
    });
  }

  #createRequestDependencies(): RequestDependencies {
    const { traffic, visitors } = this.#dependencies;
    const { refused } = traffic.metrics;
    return {
      context: this.#context,
      visitors,
      behindProxy: () => this.#settings.behindProxy,
      refused,
    };
  }

  #createListener(
    requestDependencies: RequestDependencies,
    publish: PublishRoutes,
    subscribe: SubscribeRoutes,
  ): RequestListener {
    const { appPages: pages } = this.#context;
    const reserved = this.#derivedSettings.reservedTopics;
    const serverInfo = this.#createServerInfo();
    const ntfyMetrics = this.#createNtfyMetrics();
    const listener = pushListener({
      ...requestDependencies,
      routes: {
        api: this.#dependencies.routes,
        publish,
        subscribe,
        serverInfo,
        findNonTopicRoute: this.#createNonTopicRoutes(publish),
        reserved,
      },
      pages,
      onServed: ntfyMetrics.countRequest,
    });
    return redirectBrowsers(listener, {
      pages,
      isPage: (path) =>
        path === '/' || (!serverInfo.has(path) && isTopic(path.slice(1)) && !reserved.has(path.slice(1))),
    });
  }

  #createServerInfo(): ReturnType<typeof serverInfoRoutes> {
    const { delivery, sendsMail, traffic, webPush } = this.#dependencies;
    return serverInfoRoutes({
      statistics: traffic.statistics,
      reservedTopics: () => this.#settings.reservedTopics,
      signUp: () => this.#settings.enableSignup,
      sendsMail,
      webPushKey: webPush.publicKey,
      healthy: () => delivery.publisher.healthy,
      pages: this.#context.appPages,
    });
  }

  #createNtfyMetrics(): ReturnType<typeof registerNtfyMetrics> {
    const { delivery, streams, traffic, visitors } = this.#dependencies;
    const { subscribers } = streams;
    const { limits, topics } = visitors;
    const published = (): number => traffic.statistics.total;
    return registerNtfyMetrics(this.#context, { store: delivery.messages, subscribers, limits, topics, published });
  }

  #createNonTopicRoutes(publish: PublishRoutes): ReturnType<typeof createNonTopicRoutes> {
    const { delivery, visitors } = this.#dependencies;
    const { attachments, baseUrl } = delivery;
    const { limits, subscriberRateLimits } = visitors;
    const { messageSizeLimit } = this.#derivedSettings;
    return createNonTopicRoutes({
      publish,
      attachments,
      baseUrl,
      messageSizeLimit,
      limits,
      subscriberRateLimits,
    });
  }

  #createUpgradeListener(requestDependencies: RequestDependencies, subscribe: SubscribeRoutes): UpgradeListener {
    const { limits } = this.#dependencies.visitors;
    const { accounts, clock } = this.#context;
    return webSocketListener({
      subscribe,
      readRequest: async (request) => {
        const read = await readRequest(requestDependencies, request);
        limits.request(read.requestContext);
        return read;
      },
      toProblem: (error) => toProblem(requestDependencies, error),
      clock,
      onRateLimited: () => accounts.record({ event: 'rate_limited', detail: 'WebSocket' }),
    });
  }

  /** Returns the rewrite of file addresses. A configured base address applies to all clients. */
  #findFileRewrite(request: IncomingMessage): FileAddressRewrite | undefined {
    if (this.#settings.baseUrl !== '') return undefined;
    return createFileAddressRewrite(this.#dependencies.delivery.baseUrl(), this.#context.publicUrl(request));
  }
}
