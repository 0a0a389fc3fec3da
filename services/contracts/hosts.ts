/** Further names under which a service answers, besides those of this machine and those of the settings. */
export interface Hosts {
  /** All that are in effect, lower case. */
  readonly names: readonly string[];
  /** Takes effect with the next request; the disposal takes them back. @throws Problem `hosts.invalid` (422). */
  add(names: readonly string[]): Disposable;
}
