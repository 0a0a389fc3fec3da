/** Open connection to a message server; frames that it cannot send any more are lost. */
export interface Connection extends AsyncDisposable {
  /** Sends frames in this order to the other hosts. */
  send(frames: readonly string[]): void;
  /** Resolves when the connection has ended, with its error if there is one. */
  readonly closed: Promise<unknown>;
}

/** Message server that hosts share. */
export interface Transport {
  readonly kind: 'nats' | 'postgres';
  /** Maximum length of a frame in characters; a longer message is split. */
  readonly maxFrameLength: number;
  /** Connects and subscribes; rejects when the server does not respond in time. */
  connect(receive: (frame: string) => void): Promise<Connection>;
}
