import { controlApi } from '../../../../services/contracts/control/api.ts';
import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { firstMessage } from '../../../../services/contracts/push/first-message.ts';
import { pushApi, type PushTopic, type WrittenAction } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { runExclusive } from '../../state/run-exclusive.ts';
import { pushMessages } from './messages.svelte.ts';

export interface Composed {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly markdown: boolean;
  readonly delay: string;
  readonly actions: readonly WrittenAction[];
  /** The id of an upload. */
  readonly file: string | undefined;
  /** Address of a file elsewhere. */
  readonly attach: string;
  readonly filename: string;
}

interface Numbers {
  readonly total: number;
  readonly today: number;
  readonly rate: number;
  readonly listening: number;
}

/** Topics that were used lately. */
class Push extends Loadable {
  topics = $state.raw<readonly PushTopic[]>([]);

  numbers = $state.raw<Numbers | null>(null);
  #watched = 0;
  readonly #soon = runExclusive(() => this.load());

  constructor() {
    super();
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Follows what happens until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    void this.load();
    return () => (this.#watched -= 1);
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

  /** Answers when it is delivered, in ms since the epoch. @throws Problem with `fields`. */
  async publish({ tags, click, actions, file, attach, ...rest }: Composed): Promise<number> {
    const given = {
      ...(click === '' ? {} : { click }),
      ...(attach === '' ? {} : { attach }),
      ...(file ? { file } : {}),
    };
    const { time } = await call(pushApi.publish, {
      body: { ...rest, ...given, tags: [...tags], actions: [...actions] },
    });
    this.#refresh();
    pushMessages.refresh();
    return time;
  }

  /** Publishes what somebody without any message sees arrive. @throws Problem */
  async sendFirst(): Promise<void> {
    const { topic, title, message, tags } = firstMessage;
    await call(pushApi.publish, {
      body: { topic, title, message, tags, priority: 3, markdown: false, actions: [], filename: '', delay: '' },
    });
    await this.#soon();
  }

  /** A service account that may do this one thing, and its token: what is lost can be revoked alone. */
  async makeToken(
    topic: string,
    label: string,
    permission: 'read' | 'write',
  ): Promise<{ readonly account: string; readonly text: string }> {
    const plain = label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const name = `push-${plain}`.slice(0, 64);
    const grants = [{ service: 'push', resource: topic, permission }];
    const description = `${permission === 'read' ? 'Reads' : 'Publishes to'} ${topic}`;
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
    if (this.#watched > 0) void this.#soon();
  }
}

export const push = new Push();
