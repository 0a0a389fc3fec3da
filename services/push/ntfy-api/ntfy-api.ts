import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Accounts } from '../../contracts/control/accounts.ts';
import type { UpgradeListener } from '../../contracts/listeners.ts';
import type { Context } from '../../contracts/service.ts';
import type { Limits } from '../access/limits.ts';
import type { SubscriberRateLimits } from '../access/subscriber-rate-limits.ts';
import { isTopic } from '../domain/topics.ts';
import type { PushMetrics } from '../metrics/metrics.ts';
import { registerNtfyMetrics } from '../metrics/ntfy-metrics.ts';
import type { Statistics } from '../metrics/statistics.ts';
import { seconds, type Delivery } from '../publish/delivery.ts';
import { findTemplate } from '../publish/templates.ts';
import type { Settings } from '../settings.ts';
import type { MessageStore } from '../store/messages.ts';
import { createFileAddressRewrite, type FileAddressRewrite } from '../subscribe/file-addresses.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { ActiveTopics } from '../topics/active-topics.ts';
import type { ApiRoutes } from './api-routes.ts';
import { redirectBrowsers } from './browser-redirect.ts';
import { pushListener, readRequest, toProblem, type ListenerDependencies } from './listener.ts';
import { createNonTopicRoutes } from './non-topic-routes.ts';
import { PublishRoutes } from './publish.ts';
import { serverInfoRoutes } from './server-info.ts';
import { SubscribeRoutes } from './subscribe.ts';
import { webSocketListener } from './web-socket.ts';

export interface NtfyApiDependencies {
  readonly context: Context;
  /** Accounts, including the access to sync topics. */
  readonly accounts: Accounts;
  readonly settings: Readonly<Settings>;
  /** Account, administration and web push routes. */
  readonly api: ApiRoutes;
  readonly limits: Limits;
  readonly subscriberRateLimits: SubscriberRateLimits;
  readonly topics: ActiveTopics;
  readonly store: MessageStore;
  readonly subscribers: Subscribers;
  readonly statistics: Statistics;
  readonly metrics: PushMetrics;
  readonly reserved: ReadonlySet<string>;
  readonly delivery: Delivery;
  /** Returns true when messages can be forwarded as mail. */
  readonly sendsMail: () => boolean;
  /** Returns the public key for web push subscriptions; empty when web push is disabled. */
  readonly webPushKey: () => string;
}

/** Dependencies that requests and upgrades share. */
type RequestDependencies = Pick<
  ListenerDependencies,
  'context' | 'api' | 'limits' | 'subscriberRateLimits' | 'behindProxy' | 'refused'
>;

/** API of ntfy: publishing, streams, accounts and files. */
export class NtfyApi {
  readonly http: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly #dependencies: NtfyApiDependencies;

  constructor(dependencies: NtfyApiDependencies) {
    this.#dependencies = dependencies;
    const publish = this.#createPublishRoutes();
    const subscribe = this.#createSubscribeRoutes();
    const requestDependencies = this.#createRequestDependencies();
    this.http = this.#createListener(requestDependencies, publish, subscribe);
    this.upgrade = this.#createUpgradeListener(requestDependencies, subscribe);
  }

  #createPublishRoutes(): PublishRoutes {
    const {
      accounts,
      context,
      delivery,
      limits,
      metrics,
      reserved,
      sendsMail,
      settings,
      subscriberRateLimits,
      topics,
    } = this.#dependencies;
    const { clock, files, random } = context;
    return new PublishRoutes({
      findFileRewrite: (request) => this.#findFileRewrite(request),
      publisher: delivery.publisher,
      attachments: delivery.attachments,
      sendsMail,
      findTemplate: (name) => findTemplate(join(files, 'templates'), name),
      accounts,
      random,
      reserved,
      messageSizeLimit: () => settings.messageSizeLimit,
      maxDelaySeconds: () => seconds(settings.messageDelayLimit),
      unifiedPush: () => settings.unifiedPush,
      commitSeconds: metrics.commitSeconds,
      clock,
      limits,
      topics,
      subscriberRateLimits,
    });
  }

  #createSubscribeRoutes(): SubscribeRoutes {
    const { accounts, context, delivery, limits, metrics, reserved, settings, store, subscribers, topics } =
      this.#dependencies;
    const { clock, random } = context;
    return new SubscribeRoutes({
      findFileRewrite: (request) => this.#findFileRewrite(request),
      context: { accounts, clock, random },
      store,
      delayedMessages: delivery.delayedStore,
      subscribers,
      reserved,
      bounds: settings,
      cut: metrics.cut,
      limits,
      topics,
      subscriberRateLimits: this.#dependencies.subscriberRateLimits,
    });
  }

  #createRequestDependencies(): RequestDependencies {
    const { api, context, limits, metrics, settings, subscriberRateLimits } = this.#dependencies;
    const { refused } = metrics;
    return { context, api, limits, subscriberRateLimits, behindProxy: () => settings.behindProxy, refused };
  }

  #createListener(
    requestDependencies: RequestDependencies,
    publish: PublishRoutes,
    subscribe: SubscribeRoutes,
  ): RequestListener {
    const { context, reserved } = this.#dependencies;
    const { appPages: pages } = context;
    const serverInfo = this.#createServerInfo();
    const ntfyMetrics = this.#createNtfyMetrics();
    const listener = pushListener({
      ...requestDependencies,
      publish,
      subscribe,
      serverInfo,
      findNonTopicRoute: this.#createNonTopicRoutes(publish),
      pages,
      reserved,
      onServed: ntfyMetrics.countRequest,
    });
    return redirectBrowsers(listener, {
      pages,
      isPage: (path) =>
        path === '/' || (!serverInfo.has(path) && isTopic(path.slice(1)) && !reserved.has(path.slice(1))),
    });
  }

  #createServerInfo(): ReturnType<typeof serverInfoRoutes> {
    const { context, delivery, sendsMail, settings, statistics, webPushKey } = this.#dependencies;
    return serverInfoRoutes({
      statistics,
      reservedTopics: () => settings.reservedTopics,
      signUp: () => settings.enableSignup,
      sendsMail,
      webPushKey,
      healthy: () => delivery.publisher.healthy,
      pages: context.appPages,
    });
  }

  #createNtfyMetrics(): ReturnType<typeof registerNtfyMetrics> {
    const { context, limits, statistics, store, subscribers, topics } = this.#dependencies;
    return registerNtfyMetrics(context, { store, subscribers, limits, topics, published: () => statistics.total });
  }

  #createNonTopicRoutes(publish: PublishRoutes): ReturnType<typeof createNonTopicRoutes> {
    const { delivery, limits, settings, subscriberRateLimits } = this.#dependencies;
    const { attachments, baseUrl } = delivery;
    return createNonTopicRoutes({
      publish,
      attachments,
      baseUrl,
      messageSizeLimit: () => settings.messageSizeLimit,
      limits,
      subscriberRateLimits,
    });
  }

  #createUpgradeListener(requestDependencies: RequestDependencies, subscribe: SubscribeRoutes): UpgradeListener {
    const { context, limits } = this.#dependencies;
    const { accounts, clock } = context;
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
    const { context, delivery, settings } = this.#dependencies;
    if (settings.baseUrl !== '') return undefined;
    return createFileAddressRewrite(delivery.baseUrl(), context.publicUrl(request));
  }
}
