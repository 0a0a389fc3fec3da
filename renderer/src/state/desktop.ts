/** What the desktop app offers its pages besides a browser; absent in one. */
interface Desktop {
  /** Shows the file of a finished download in the system's file manager. */
  readonly showDownload?: (uid: string) => Promise<void>;
}

/** The desktop's side of this page; empty in a browser. */
export function desktop(): Desktop {
  return (globalThis as { homeportDesktop?: Desktop }).homeportDesktop ?? {};
}
