import { createHash } from 'node:crypto';
import type { Mapping } from '../domain/deliveries.ts';
import type { TopicAddressOptions } from '../domain/topic-address.ts';
import type { Rule } from '../domain/rules.ts';
import { parseTarget, splitTargets, type Target } from '../domain/target.ts';
import type { Settings } from '../settings.ts';

/** Recipients and rules of the settings. */
export interface Routing {
  readonly mappings: readonly Mapping[];
  readonly rules: readonly Rule[];
  readonly topics: TopicAddressOptions;
  /** Destination URLs by fingerprint. They contain secrets, so only fingerprints are passed on. */
  readonly urls: ReadonlyMap<string, string>;
}

type RoutingSettings = Pick<Settings, 'recipients' | 'rules' | 'topicDomain' | 'topicPrefix'>;

/** Routing of the current settings. */
export class LiveRouting implements Routing {
  #current: Routing;

  constructor(settings: RoutingSettings) {
    this.#current = toRouting(settings);
  }

  get mappings(): readonly Mapping[] {
    return this.#current.mappings;
  }

  get rules(): readonly Rule[] {
    return this.#current.rules;
  }

  get topics(): TopicAddressOptions {
    return this.#current.topics;
  }

  get urls(): ReadonlyMap<string, string> {
    return this.#current.urls;
  }

  update(settings: RoutingSettings): void {
    this.#current = toRouting(settings);
  }
}

function toUrlTarget(url: string): Target & { readonly kind: 'url' } {
  const fingerprint = createHash('sha256').update(url).digest('hex').slice(0, 12);
  return { kind: 'url', scheme: /^[a-z][a-z0-9]*/i.exec(url)?.[0].toLowerCase() ?? 'url', fingerprint };
}

function parseTargets(text: string): readonly Target[] {
  return splitTargets(text)
    .map(parseTarget)
    .filter((target) => target !== undefined);
}

/** Converts recipients and rules of the settings. */
function toRouting({ recipients, rules, topicDomain, topicPrefix }: RoutingSettings): Routing {
  const urls = new Map<string, string>();
  const mappings = recipients.map(({ address, to, destinations, title, body, format }): Mapping => {
    const urlTargets = splitTargets(destinations).map((url) => {
      const target = toUrlTarget(url);
      urls.set(target.fingerprint, url);
      return target;
    });
    return { address, title, body, format, targets: [...parseTargets(to), ...urlTargets] };
  });
  return {
    mappings,
    urls,
    topics: { domain: topicDomain, prefix: topicPrefix },
    rules: rules.map(({ from, subject, to, drop, type, priority, tag, goesTo }) => ({
      from,
      subject,
      to,
      drop,
      type: type === 'as it is' ? undefined : type,
      priority: priority === 0 ? undefined : priority,
      tag: tag === '' ? undefined : tag,
      targets: parseTargets(goesTo),
    })),
  };
}
