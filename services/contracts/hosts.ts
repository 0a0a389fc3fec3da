/** Additional host names of a service, in addition to those of the computer and of the settings. */
export interface Hosts {
  /** All names in effect, in lower case. */
  readonly names: readonly string[];
  /**
   * Adds names from the next request on, until the disposal.
   * @throws Problem `hosts.invalid` (422).
   */
  add(names: readonly string[]): Disposable;
}
