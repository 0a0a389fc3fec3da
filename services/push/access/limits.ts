import { BlockList, isIP } from 'node:net';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { LeakyBucket } from '../../kit/leaky-bucket.ts';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';
import { toNetwork } from '../../kit/network.ts';
import { refuse } from '../domain/refusals.ts';
import type { EmailSettings } from '../settings/email.ts';
import type { LimitSettings } from '../settings/limits.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Maximum number of remembered visitors; the least recently seen one is dropped first. */
const maxVisitors = 20_000;
const accountBurst = 3;

/** Sender of a request, as identified for rate limits. */
export interface Sender {
  readonly identity: Identity | undefined;
  /** Address of the client; behind a trusted proxy, the forwarded one. */
  readonly address: string;
}

/** Recent usage of one account or address. */
interface Visitor {
  requests: LeakyBucket;
  newTopics: LeakyBucket;
  readonly accounts: LeakyBucket;
  emails: LeakyBucket;
  subscriptions: number;
  /** Counted since midnight UTC of {@link dayMs}. */
  messages: number;
  mails: number;
  bandwidth: number;
  day: number;
  lastSeenAt: number;
}

type Settings = LimitSettings & Pick<EmailSettings, 'emailLimitBurst' | 'emailLimitReplenish'>;

/**
 * Rate limits and quotas per account, or per network of visitors. Kept in memory, because they protect the server and
 * are not billed.
 */
export class Limits {
  readonly #clock: Clock;
  readonly #settings: Settings;
  #exempt = new BlockList();
  readonly #visitors = new Map<string, Visitor>();
  #replenish = { requests: 5000, topics: 60_000, emails: 3_600_000 };

  constructor(clock: Clock, settings: Settings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#applySettings();
  }

  /** Applies changed settings. Rate buckets start full again; open subscriptions stay counted. */
  reconfigure(): void {
    this.#applySettings();
    for (const visitor of this.#visitors.values()) Object.assign(visitor, this.#buckets());
  }

  #buckets(): Pick<Visitor, 'requests' | 'newTopics' | 'emails'> {
    return {
      requests: new LeakyBucket({ capacity: this.#settings.requestLimitBurst, drainMs: this.#replenish.requests }),
      newTopics: new LeakyBucket({ capacity: this.#settings.topicLimitBurst, drainMs: this.#replenish.topics }),
      emails: new LeakyBucket({ capacity: this.#settings.emailLimitBurst, drainMs: this.#replenish.emails }),
    };
  }

  #applySettings(): void {
    const settings = this.#settings;
    this.#exempt = new BlockList();
    this.#replenish = {
      requests: parseDuration(settings.requestLimitReplenish) ?? 5000,
      topics: parseDuration(settings.topicLimitReplenish) ?? 60_000,
      emails: parseDuration(settings.emailLimitReplenish) ?? 3_600_000,
    };
    for (const entry of settings.limitExempt) {
      const [address = '', bits] = entry.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      this.#exempt.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
    }
  }

  /** Number of accounts and networks seen within a day. */
  get visitors(): number {
    return this.#visitors.size;
  }

  /**
   * Returns the key under which usage of a sender is counted: the account or the network of the address. Network keys
   * never start like account keys.
   */
  getKey({ identity, address }: Sender): string {
    const { prefixBitsIpv4: ipv4, prefixBitsIpv6: ipv6 } = this.#settings;
    return identity === undefined ? toNetwork(address, { ipv4, ipv6 }) : `account ${identity.account}`;
  }

  /** Maximum number of messages a day per sender. */
  get dailyMessages(): number {
    return this.#settings.messageDailyLimit || Math.floor(dayMs / this.#replenish.requests);
  }

  /**
   * Counts a request against `charged`.
   *
   * @throws Problem 42901 with Retry-After
   */
  request(sender: Sender, charged = sender): void {
    if (this.#isExempt(sender) || this.#isExempt(charged)) return;
    const waitMs = this.#visitor(charged).requests.tryAdd(this.#clock.now());
    if (waitMs === 0) return;
    throw refuse('too_many_requests', undefined, {
      headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
    });
  }

  /**
   * Counts a message against `charged`.
   *
   * @throws Problem 42908
   */
  message(sender: Sender, charged = sender): void {
    const visitor = this.#visitor(charged);
    const exempt = this.#isExempt(sender) || this.#isExempt(charged);
    if (!exempt && visitor.messages >= this.dailyMessages) throw refuse('too_many_messages');
    visitor.messages += 1;
  }

  /**
   * Counts a message that is forwarded as mail.
   *
   * @throws Problem 42902
   */
  email(sender: Sender): void {
    const visitor = this.#visitor(sender);
    if (!this.#isExempt(sender) && visitor.emails.tryAdd(this.#clock.now()) > 0) throw refuse('too_many_emails');
    visitor.mails += 1;
  }

  /**
   * Counts an open stream until it is disposed.
   *
   * @throws Problem 42903
   */
  subscription(sender: Sender): Disposable {
    const visitor = this.#visitor(sender);
    if (!this.#isExempt(sender) && visitor.subscriptions >= this.#settings.subscriptionLimit) {
      throw refuse('too_many_subscribers');
    }
    visitor.subscriptions += 1;
    let active = true;
    return {
      [Symbol.dispose]: () => {
        if (active) visitor.subscriptions -= 1;
        active = false;
      },
    };
  }

  /**
   * Counts the first use of a topic.
   *
   * @throws Problem 42911
   */
  newTopic(sender: Sender): void {
    const visitor = this.#visitor(sender);
    if (this.#isExempt(sender) || visitor.newTopics.tryAdd(this.#clock.now()) === 0) return;
    throw refuse('too_many_new_topics');
  }

  /** @throws Problem 42906 */
  signUp(sender: Sender): void {
    const visitor = this.#visitor({ ...sender, identity: undefined });
    if (this.#isExempt(sender) || visitor.accounts.tryAdd(this.#clock.now()) === 0) return;
    throw refuse('too_many_accounts');
  }

  /**
   * Counts uploaded or downloaded attachment bytes.
   *
   * @throws Problem 42905
   */
  bandwidth(sender: Sender, bytes: number): void {
    const visitor = this.#visitor(sender);
    if (!this.#isExempt(sender) && visitor.bandwidth + bytes > this.#bytes('attachmentDailyBandwidth')) {
      throw refuse('bandwidth_used_up');
    }
    visitor.bandwidth += bytes;
  }

  /** Returns the attachment bytes that the sender may still transfer today. */
  bandwidthLeft(sender: Sender): number {
    if (this.#isExempt(sender)) return Infinity;
    return Math.max(0, this.#bytes('attachmentDailyBandwidth') - this.#visitor(sender).bandwidth);
  }

  /** Returns the attachment quota of the sender in bytes; Infinity for exempt senders. */
  attachmentTotal(sender: Sender): number {
    return this.#isExempt(sender) ? Infinity : this.#bytes('attachmentTotalLimit');
  }

  /** Returns limits and usage of today for the account page. Bytes and counts. */
  usage(sender: Sender) {
    const { messages, mails } = this.#visitor(sender);
    return {
      messages,
      mails,
      dailyMails: Math.floor(dayMs / this.#replenish.emails),
      dailyMessages: this.dailyMessages,
      attachmentTotal: this.#bytes('attachmentTotalLimit'),
      attachmentBandwidth: this.#bytes('attachmentDailyBandwidth'),
    };
  }

  /** Removes visitors not seen for a day. Called every minute. */
  removeInactive(): void {
    const now = this.#clock.now();
    for (const [key, { lastSeenAt, subscriptions }] of this.#visitors) {
      if (subscriptions === 0 && now - lastSeenAt > dayMs) this.#visitors.delete(key);
    }
  }

  #bytes(name: 'attachmentTotalLimit' | 'attachmentDailyBandwidth'): number {
    return parseBytes(this.#settings[name]) ?? 0;
  }

  #isExempt({ identity, address }: Sender): boolean {
    if (identity !== undefined && !this.#settings.limitAccounts) return true;
    const family = isIP(address);
    return family !== 0 && this.#exempt.check(address, family === 6 ? 'ipv6' : 'ipv4');
  }

  #visitor(sender: Sender): Visitor {
    const now = this.#clock.now();
    const today = Math.floor(now / dayMs);
    const key = this.getKey(sender);
    let visitor = this.#visitors.get(key);
    if (visitor === undefined) {
      visitor = {
        ...this.#buckets(),
        accounts: new LeakyBucket({ capacity: accountBurst, drainMs: dayMs }),
        subscriptions: 0,
        messages: 0,
        mails: 0,
        bandwidth: 0,
        day: today,
        lastSeenAt: now,
      };
      this.#evictOldest();
    } else {
      this.#visitors.delete(key);
    }
    // Reinserts the visitor at the end, so that the map is ordered by last visit.
    this.#visitors.set(key, visitor);
    visitor.lastSeenAt = now;
    if (visitor.day !== today) {
      visitor.day = today;
      visitor.messages = 0;
      visitor.mails = 0;
      visitor.bandwidth = 0;
    }
    return visitor;
  }

  #evictOldest(): void {
    if (this.#visitors.size < maxVisitors) return;
    for (const [key, { subscriptions }] of this.#visitors) {
      if (subscriptions > 0) continue;
      this.#visitors.delete(key);
      return;
    }
  }
}
