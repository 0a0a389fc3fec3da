/** What a download is called wherever it is named: by its title, else by its file, and by its address until it has either. */
export function getDownloadName(download: {
  readonly title: string;
  readonly filename: string | null;
  readonly url: string;
}): string {
  const file = download.filename
    ?.split('/')
    .at(-1)
    ?.replace(/\.[^.]+$/, '');
  return download.title || file || download.url;
}
