import type { Component } from 'svelte';

/** A tab of a service page. */
export interface ServiceTab {
  /** Section in the path, such as `delayed` for `/push/delayed`; empty for the first tab. */
  readonly section: string;
  readonly title: () => string;
  /** Section of the tab that contains this view; without that tab the view is one. */
  readonly parent?: string;
  /** Title of a tab among the views that it contains; its title by default. */
  readonly viewTitle?: () => string;
  readonly adminOnly?: true;
  /** The service that the tab requires, on pages of several services. */
  readonly service?: string;
  /** Loads the component. It receives `id`, the open item, which is empty for none. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}
