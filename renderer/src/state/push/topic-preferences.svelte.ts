import { inboxAdded } from '../../../../services/contracts/inbox/api.ts';
import {
  topicPreferencesApi,
  type TopicPreferences,
  type TopicSound,
} from '../../../../services/contracts/push/topic-preferences.ts';
import { call } from '../../api/call.ts';
import { live } from '../live.svelte.ts';

/** Minimum time in ms between two sounds, so that a burst of messages plays one. */
const minSoundIntervalMs = 2000;

/** Display names and sounds that the account has set for topics. */
class TopicPreferenceList {
  #topics = $state.raw<ReadonlyMap<string, TopicPreferences>>(new Map());
  #lastSoundAt = 0;

  /** Loads the preferences and plays sounds of new messages until the returned function is called. */
  start(): () => void {
    void this.load();
    const reload = (): void => {
      // An app of ntfy or another window may have changed a name.
      if (document.visibilityState === 'visible') void this.load();
    };
    document.addEventListener('visibilitychange', reload);
    const unsubscribers = [
      live.onReset(() => void this.load()),
      live.on(inboxAdded, ({ topic }) => this.#announce(topic)),
      () => document.removeEventListener('visibilitychange', reload),
    ];
    return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
  }

  async load(): Promise<void> {
    try {
      this.#set((await call(topicPreferencesApi.list)).topics);
    } catch {
      // Topics are shown by their names.
    }
  }

  get(topic: string): Omit<TopicPreferences, 'topic'> {
    return this.#topics.get(topic) ?? { displayName: '', sound: 'default' };
  }

  /** Returns the display name of a topic, or the name of the topic without one. */
  getName(topic: string): string {
    return this.get(topic).displayName || topic;
  }

  /** @throws Problem with `fields`. */
  async save(topic: string, displayName: string, sound: TopicSound): Promise<void> {
    const { topics } = await call(topicPreferencesApi.change, { params: { topic }, body: { displayName, sound } });
    this.#set(topics);
  }

  #set(topics: readonly TopicPreferences[]): void {
    this.#topics = new Map(topics.map((each) => [each.topic, each]));
  }

  #announce(topic: string): void {
    const { sound } = this.get(topic);
    const now = Date.now();
    if (sound === 'default' || sound === 'silent' || now - this.#lastSoundAt < minSoundIntervalMs) return;
    this.#lastSoundAt = now;
    // The first page needs no sounds. Browsers refuse them before the first click in a page.
    void import('./sounds.ts').then(({ playSound }) => playSound(sound)).catch(() => undefined);
  }
}

export const topicPreferences = new TopicPreferenceList();
