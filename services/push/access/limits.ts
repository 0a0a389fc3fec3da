import { BlockList, isIP } from 'node:net';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { Bucket } from '../domain/bucket.ts';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';
import { toNetwork } from '../../kit/network.ts';
import { refuse } from '../domain/refusals.ts';
import type { EmailSettings } from '../settings/email.ts';
import type { LimitSettings } from '../settings/limits.ts';

const day = 24 * 60 * 60 * 1000;
/** Visitors that are remembered at most; the one that was away longest goes first. */
const mostVisitors = 20_000;
const accountBurst = 3;

/** Who sends, as far as limits go. */
export interface Sender {
  readonly identity: Identity | undefined;
  /** The client's address, behind a trusted proxy the one it tells. */
  readonly address: string;
}

/** What one account or address has done lately. */
interface Visitor {
  requests: Bucket;
  newTopics: Bucket;
  readonly accounts: Bucket;
  emails: Bucket;
  subscriptions: number;
  /** Counted since midnight UTC of {@link day}. */
  messages: number;
  mails: number;
  bandwidth: number;
  day: number;
  seen: number;
}

type Settings = LimitSettings & Pick<EmailSettings, 'emailLimitBurst' | 'emailLimitReplenish'>;

/** Rates and quotas per account, or per address of who has none. In memory: they protect, they do not bill. */
export class Limits {
  readonly #clock: Clock;
  readonly #settings: Settings;
  #exempt = new BlockList();
  readonly #visitors = new Map<string, Visitor>();
  #replenish = { requests: 5000, topics: 60_000, emails: 3_600_000 };

  constructor(clock: Clock, settings: Settings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#read();
  }

  /** Applies changed settings: what was used of the earlier rates counts no more, open subscriptions still do. */
  reconfigure(): void {
    this.#read();
    const now = this.#clock.now();
    for (const visitor of this.#visitors.values()) Object.assign(visitor, this.#buckets(now));
  }

  #buckets(now: number): Pick<Visitor, 'requests' | 'newTopics' | 'emails'> {
    return {
      requests: new Bucket(this.#settings.requestLimitBurst, this.#replenish.requests, now),
      newTopics: new Bucket(this.#settings.topicLimitBurst, this.#replenish.topics, now),
      emails: new Bucket(this.#settings.emailLimitBurst, this.#replenish.emails, now),
    };
  }

  #read(): void {
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

  /** Accounts and addresses that were here within a day. */
  get visitors(): number {
    return this.#visitors.size;
  }

  /** Under which name a sender's use is counted: the account, or the network of the address. No address begins like an account's. */
  nameOf({ identity, address }: Sender): string {
    const { prefixBitsIpv4: ipv4, prefixBitsIpv6: ipv6 } = this.#settings;
    return identity === undefined ? toNetwork(address, { ipv4, ipv6 }) : `account ${identity.account}`;
  }

  /** How many messages a day one sender may publish. */
  get dailyMessages(): number {
    return this.#settings.messageDailyLimit || Math.floor(day / this.#replenish.requests);
  }

  /** `charged` is whom it counts for. @throws Problem 42901 with Retry-After */
  request(sender: Sender, charged = sender): void {
    if (this.#free(sender) || this.#free(charged)) return;
    const result = this.#visitor(charged).requests.take(this.#clock.now());
    if (result.taken) return;
    throw refuse('too_many_requests', undefined, {
      headers: { 'Retry-After': String(Math.ceil(result.waitMs / 1000)) },
    });
  }

  /** `charged` is whom it counts for. @throws Problem 42908 */
  message(sender: Sender, charged = sender): void {
    const visitor = this.#visitor(charged);
    const isFree = this.#free(sender) || this.#free(charged);
    if (!isFree && visitor.messages >= this.dailyMessages) throw refuse('too_many_messages');
    visitor.messages += 1;
  }

  /** A message that is to go out as mail. @throws Problem 42902 */
  email(sender: Sender): void {
    const visitor = this.#visitor(sender);
    if (!this.#free(sender) && !visitor.emails.take(this.#clock.now()).taken) throw refuse('too_many_emails');
    visitor.mails += 1;
  }

  /** Holds a place for a stream until the disposal. @throws Problem 42903 */
  subscription(sender: Sender): Disposable {
    const visitor = this.#visitor(sender);
    if (!this.#free(sender) && visitor.subscriptions >= this.#settings.subscriptionLimit) {
      throw refuse('too_many_subscribers');
    }
    visitor.subscriptions += 1;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) visitor.subscriptions -= 1;
        held = false;
      },
    };
  }

  /** Someone uses a topic for the first time. @throws Problem 42911 */
  newTopic(sender: Sender): void {
    const visitor = this.#visitor(sender);
    if (this.#free(sender) || visitor.newTopics.take(this.#clock.now()).taken) return;
    throw refuse('too_many_new_topics');
  }

  /** @throws Problem 42906 */
  signUp(sender: Sender): void {
    const visitor = this.#visitor({ ...sender, identity: undefined });
    if (this.#free(sender) || visitor.accounts.take(this.#clock.now()).taken) return;
    throw refuse('too_many_accounts');
  }

  /** Attachment bytes up or down. @throws Problem 42905 */
  bandwidth(sender: Sender, bytes: number): void {
    const visitor = this.#visitor(sender);
    if (!this.#free(sender) && visitor.bandwidth + bytes > this.#bytes('attachmentDailyBandwidth')) {
      throw refuse('bandwidth_used_up');
    }
    visitor.bandwidth += bytes;
  }

  /** Attachment bytes that are left to this sender today. */
  bandwidthLeft(sender: Sender): number {
    if (this.#free(sender)) return Infinity;
    return Math.max(0, this.#bytes('attachmentDailyBandwidth') - this.#visitor(sender).bandwidth);
  }

  /** How many bytes of attachments this sender may keep in all; Infinity for who is exempt. */
  attachmentTotal(sender: Sender): number {
    return this.#free(sender) ? Infinity : this.#bytes('attachmentTotalLimit');
  }

  /** What a sender may do and has done, in numbers for his account page. Bytes and counts of today. */
  usage(sender: Sender) {
    const { messages, mails } = this.#visitor(sender);
    return {
      messages,
      mails,
      dailyMails: Math.floor(day / this.#replenish.emails),
      dailyMessages: this.dailyMessages,
      attachmentTotal: this.#bytes('attachmentTotalLimit'),
      attachmentBandwidth: this.#bytes('attachmentDailyBandwidth'),
    };
  }

  /** Call each minute: forgets who was away for a day. */
  forget(): void {
    const now = this.#clock.now();
    for (const [key, { seen, subscriptions }] of this.#visitors) {
      if (subscriptions === 0 && now - seen > day) this.#visitors.delete(key);
    }
  }

  #bytes(name: 'attachmentTotalLimit' | 'attachmentDailyBandwidth'): number {
    return parseBytes(this.#settings[name]) ?? 0;
  }

  #free({ identity, address }: Sender): boolean {
    if (identity !== undefined && !this.#settings.limitAccounts) return true;
    const family = isIP(address);
    return family !== 0 && this.#exempt.check(address, family === 6 ? 'ipv6' : 'ipv4');
  }

  #visitor(sender: Sender): Visitor {
    const now = this.#clock.now();
    const today = Math.floor(now / day);
    const key = this.nameOf(sender);
    let visitor = this.#visitors.get(key);
    if (visitor === undefined) {
      visitor = {
        ...this.#buckets(now),
        accounts: new Bucket(accountBurst, day, now),
        subscriptions: 0,
        messages: 0,
        mails: 0,
        bandwidth: 0,
        day: today,
        seen: now,
      };
      this.#makeRoom();
    } else {
      this.#visitors.delete(key);
    }
    // Put at the end: the map is in order of the last visit.
    this.#visitors.set(key, visitor);
    visitor.seen = now;
    if (visitor.day !== today) {
      visitor.day = today;
      visitor.messages = 0;
      visitor.mails = 0;
      visitor.bandwidth = 0;
    }
    return visitor;
  }

  #makeRoom(): void {
    if (this.#visitors.size < mostVisitors) return;
    for (const [key, { subscriptions }] of this.#visitors) {
      if (subscriptions > 0) continue;
      this.#visitors.delete(key);
      return;
    }
  }
}
