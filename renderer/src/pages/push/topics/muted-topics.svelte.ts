import * as m from '#messages/push';
import { pushQuietApi } from '../../../../../services/contracts/push/quiet.ts';
import type { MutedTopic } from '../../../../../services/contracts/push/rules.ts';
import { call } from '../../../api/call.ts';
import { formatMoment } from '../../../parts/text/format.ts';
import { clock } from '../../../state/clock.svelte.ts';
import { live } from '../../../state/live.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';

/** Topics that the account has muted for a time. */
class MutedTopics {
  #muted = $state.raw<readonly MutedTopic[]>([]);
  #observers = 0;

  constructor() {
    live.onReset(() => {
      if (this.#observers > 0) void this.#load();
    });
  }

  /** Keeps the topics up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    void this.#load();
    return () => (this.#observers -= 1);
  }

  /** Returns the time when a topic is unmuted, in ms since the epoch; undefined when it is not muted. */
  getEnd(topic: string): number | undefined {
    return this.#muted.find((each) => each.topic === topic && each.until > clock.now)?.until;
  }

  /** Mutes a topic until a time, or unmutes it with null, with Undo. */
  async mute(topic: string, until: number | null): Promise<void> {
    const before = this.getEnd(topic) ?? null;
    try {
      await this.#save(topic, until);
      const message =
        until === null ? m.topicUnmuted({ topic }) : m.topicMuted({ topic, time: formatMoment(until, Date.now()) });
      toasts.show(message, { undo: () => this.#save(topic, before) });
    } catch (error) {
      toasts.showError(error);
    }
  }

  async #save(topic: string, until: number | null): Promise<void> {
    this.#muted = (await call(pushQuietApi.mute, { params: { topic }, body: { until } })).muted;
  }

  async #load(): Promise<void> {
    try {
      this.#muted = (await call(pushQuietApi.muted)).muted;
    } catch {
      // The topics themselves show the error of the service.
    }
  }
}

export const mutedTopics = new MutedTopics();
