/** Recorded exchange with an intended difference and its reason. */
export interface Difference {
  /** One sentence, also stated in the README of the service. */
  readonly why: string;
  /** Status in place of the recorded one. */
  readonly status: number;
}

/** Recorded exchanges with differences, by name. */
export const differences: Readonly<Record<string, Difference>> = {
  metrics: {
    why: 'The metrics page contains Homeport’s own metrics instead of the ntfy server’s Go runtime metrics.',
    status: 200,
  },
};

/** Exchanges with a differently configured server, replayed by the suite of that setting. */
export const otherServers: Readonly<Record<string, string>> = {
  limit_messages_daily: 'a server with three messages a day',
  limit_requests: 'a server with a burst of five requests',
};
