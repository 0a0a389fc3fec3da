import type { Component } from 'svelte';

/** A view of the push page beside its topics. */
interface PushTab {
  /** Its place in the address: `/push?tab=quiet`; empty for the topics, which have `/push` and `/push/<topic>`. */
  readonly at: string;
  readonly title: string;
  /** The component; it gets `section`, the topic that is open, empty when none is. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}

/** The tabs of the push page in order. A new one is one line here. */
export const tabs: readonly PushTab[] = [
  { at: '', title: 'Topics', load: () => import('./Topics.svelte') },
  { at: 'planned', title: 'Planned', load: () => import('./Delayed.svelte') },
  { at: 'keeping', title: 'Keeping', load: () => import('./Keeping.svelte') },
  { at: 'quiet', title: 'Quiet hours', load: () => import('./QuietHours.svelte') },
  { at: 'statistics', title: 'Statistics', load: () => import('./Statistics.svelte') },
];
