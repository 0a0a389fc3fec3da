import type { Component } from 'svelte';

/** A tab of a service's page. */
export interface ServiceTab {
  /** Its thing in the address, such as `delayed` for `/push/delayed`; empty for the first, which needs none. */
  readonly at: string;
  readonly title: string;
  /** Administrators alone. */
  readonly adminOnly?: true;
  /** Of several services behind the page the one it needs. */
  readonly service?: string;
  /** The component; it gets `id`, what of its things is open, empty when none is. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}
