export type PreviewKind = 'image' | 'audio' | 'video' | 'text';

const extensions: Readonly<Record<PreviewKind, readonly string[]>> = {
  image: ['jpg', 'jpeg', 'png', 'apng', 'gif', 'webp', 'avif'],
  audio: ['mp3', 'm4a', 'aac', 'ogg', 'oga', 'opus', 'flac', 'wav', 'weba'],
  video: ['mp4', 'm4v', 'webm', 'ogv', 'mov'],
  text: [
    ...['txt', 'md', 'log', 'csv', 'tsv', 'json', 'xml', 'yaml', 'yml', 'toml', 'ini', 'conf', 'srt', 'vtt', 'nfo'],
    ...['html', 'htm', 'css', 'js', 'ts', 'sh', 'py', 'c', 'h', 'go', 'rs', 'java', 'sql'],
  ],
};

/** Returns how a file can be shown in the page, by its name; undefined if it can only be saved. */
export function getPreviewKind(name: string): PreviewKind | undefined {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.keys(extensions) as PreviewKind[]).find((kind) => extensions[kind].includes(extension));
}

/** Returns the path of a file in the app API. */
export function buildContentPath(path: string): string {
  return `/api/sync/files/content/${encodeURIComponent(path)}`;
}
