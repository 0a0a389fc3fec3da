import * as m from '#messages/state';
import { controlApi } from '../../../../services/contracts/control/api.ts';
import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { firstMessage } from '../../../../services/contracts/push/first-message.ts';
import { pushApi, type PushTopic, type WrittenAction } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../live.svelte.ts';
import { Loadable } from '../loadable.svelte.ts';
import { runExclusive } from '../run-exclusive.ts';
import { pushMessages } from './messages.svelte.ts';

export interface NewMessage {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly markdown: boolean;
  readonly delay: string;
  readonly actions: readonly WrittenAction[];
  /** ID of an uploaded file. */
  readonly file: string | undefined;
  /** Address of a remote file. */
  readonly attach: string;
  readonly filename: string;
}

interface TopicTotals {
  readonly total: number;
  readonly today: number;
  readonly rate: number;
  readonly listening: number;
}

/** Recently used topics. */
class Push extends Loadable {
  topics = $state.raw<readonly PushTopic[]>([]);

  numbers = $state.raw<TopicTotals | null>(null);
  #observers = 0;
  readonly #reloadOnce = runExclusive(() => this.load());

  constructor() {
    super();
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Keeps the topics up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    void this.load();
    return () => (this.#observers -= 1);
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => Promise.all([call(pushApi.topics), call(pushApi.statistics)]),
      ([{ topics }, numbers]) => {
        this.topics = topics;
        this.numbers = numbers;
      },
    );
  }

  /**
   * Publishes a message. Returns the time of delivery in ms since the epoch.
   * @throws Problem with `fields`.
   */
  async publish({ tags, click, actions, file, attach, ...rest }: NewMessage): Promise<number> {
    const optionalFields = {
      ...(click === '' ? {} : { click }),
      ...(attach === '' ? {} : { attach }),
      ...(file ? { file } : {}),
    };
    const { time } = await call(pushApi.publish, {
      body: { ...rest, ...optionalFields, tags: [...tags], actions: [...actions] },
    });
    this.#refresh();
    pushMessages.refresh();
    return time;
  }

  /**
   * Publishes an example message, so that a new user sees one arrive.
   * @throws Problem
   */
  async publishExample(): Promise<void> {
    const { topic, title, message, tags } = firstMessage;
    await call(pushApi.publish, {
      body: {
        topic,
        title: title(),
        message: message(),
        tags,
        priority: 3,
        markdown: false,
        actions: [],
        filename: '',
        delay: '',
      },
    });
    await this.#reloadOnce();
  }

  /**
   * Creates a service account with this single permission and a token for it, so that a lost token can be revoked
   * separately.
   */
  async createToken(
    topic: string,
    label: string,
    permission: 'read' | 'write',
  ): Promise<{ readonly account: string; readonly text: string }> {
    const slug = label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const name = `push-${slug}`.slice(0, 64);
    const grants = [{ service: 'push', resource: topic, permission }];
    const description = permission === 'read' ? m.readsTopic({ topic }) : m.publishesToTopic({ topic });
    await call(controlApi.createAccount, { body: { name, kind: 'service', role: 'user', description, grants } });
    try {
      const { text } = await call(controlApi.createToken, { params: { name }, body: { label, expiresAt: null } });
      return { account: name, text };
    } catch (error) {
      await call(controlApi.removeAccount, { params: { name } });
      throw error;
    }
  }

  #refresh(): void {
    if (this.#observers > 0) void this.#reloadOnce();
  }
}

export const push = new Push();
