import Activity from '@lucide/svelte/icons/activity';
import Archive from '@lucide/svelte/icons/archive';
import ArrowLeft from '@lucide/svelte/icons/arrow-left';
import ArrowRight from '@lucide/svelte/icons/arrow-right';
import BellOff from '@lucide/svelte/icons/bell-off';
import BellRing from '@lucide/svelte/icons/bell-ring';
import Braces from '@lucide/svelte/icons/braces';
import Check from '@lucide/svelte/icons/check';
import ChevronDown from '@lucide/svelte/icons/chevron-down';
import ChevronRight from '@lucide/svelte/icons/chevron-right';
import ChevronUp from '@lucide/svelte/icons/chevron-up';
import CodeXml from '@lucide/svelte/icons/code-xml';
import CircleCheck from '@lucide/svelte/icons/circle-check';
import CircleDot from '@lucide/svelte/icons/circle-dot';
import ClipboardPaste from '@lucide/svelte/icons/clipboard-paste';
import ChartNoAxesCombined from '@lucide/svelte/icons/chart-no-axes-combined';
import Clock from '@lucide/svelte/icons/clock';
import Cloud from '@lucide/svelte/icons/cloud';
import Columns3 from '@lucide/svelte/icons/columns-3';
import Copy from '@lucide/svelte/icons/copy';
import Cpu from '@lucide/svelte/icons/cpu';
import Database from '@lucide/svelte/icons/database';
import Download from '@lucide/svelte/icons/download';
import Ellipsis from '@lucide/svelte/icons/ellipsis';
import ExternalLink from '@lucide/svelte/icons/external-link';
import Eye from '@lucide/svelte/icons/eye';
import EyeOff from '@lucide/svelte/icons/eye-off';
import File from '@lucide/svelte/icons/file';
import Flag from '@lucide/svelte/icons/flag';
import Folder from '@lucide/svelte/icons/folder';
import FolderSync from '@lucide/svelte/icons/folder-sync';
import Gauge from '@lucide/svelte/icons/gauge';
import GitBranch from '@lucide/svelte/icons/git-branch';
import GitCommitHorizontal from '@lucide/svelte/icons/git-commit-horizontal';
import GitMerge from '@lucide/svelte/icons/git-merge';
import GitPullRequest from '@lucide/svelte/icons/git-pull-request';
import Globe from '@lucide/svelte/icons/globe';
import GripVertical from '@lucide/svelte/icons/grip-vertical';
import House from '@lucide/svelte/icons/house';
import Image from '@lucide/svelte/icons/image';
import Inbox from '@lucide/svelte/icons/inbox';
import Info from '@lucide/svelte/icons/info';
import KeyRound from '@lucide/svelte/icons/key-round';
import Keyboard from '@lucide/svelte/icons/keyboard';
import ListChecks from '@lucide/svelte/icons/list-checks';
import ListFilter from '@lucide/svelte/icons/list-filter';
import Lock from '@lucide/svelte/icons/lock';
import LogOut from '@lucide/svelte/icons/log-out';
import Mail from '@lucide/svelte/icons/mail';
import MailOpen from '@lucide/svelte/icons/mail-open';
import MessageSquare from '@lucide/svelte/icons/message-square';
import Monitor from '@lucide/svelte/icons/monitor';
import MonitorSmartphone from '@lucide/svelte/icons/monitor-smartphone';
import Pause from '@lucide/svelte/icons/pause';
import Pencil from '@lucide/svelte/icons/pencil';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Play from '@lucide/svelte/icons/play';
import Plus from '@lucide/svelte/icons/plus';
import Power from '@lucide/svelte/icons/power';
import Puzzle from '@lucide/svelte/icons/puzzle';
import QrCode from '@lucide/svelte/icons/qr-code';
import Radio from '@lucide/svelte/icons/radio';
import RotateCw from '@lucide/svelte/icons/rotate-cw';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Search from '@lucide/svelte/icons/search';
import Send from '@lucide/svelte/icons/send';
import Server from '@lucide/svelte/icons/server';
import Share2 from '@lucide/svelte/icons/share-2';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import SwatchBook from '@lucide/svelte/icons/swatch-book';
import Table2 from '@lucide/svelte/icons/table-2';
import Tag from '@lucide/svelte/icons/tag';
import Trash from '@lucide/svelte/icons/trash';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import Undo2 from '@lucide/svelte/icons/undo-2';
import User from '@lucide/svelte/icons/user';
import Users from '@lucide/svelte/icons/users';
import X from '@lucide/svelte/icons/x';
import ZoomIn from '@lucide/svelte/icons/zoom-in';
import ZoomOut from '@lucide/svelte/icons/zoom-out';

/** Icons by their meaning in the app. From Lucide, ISC licence. */
export const icons = {
  home: House,
  inbox: Inbox,
  download: Download,
  notify: BellRing,
  silent: BellOff,
  push: Radio,
  mail: Mail,
  people: Users,
  engine: Cpu,
  machine: Gauge,
  speed: Gauge,
  computer: Monitor,
  server: Server,
  website: Globe,
  cloud: Cloud,
  backup: Archive,
  braces: Braces,
  job: ListChecks,
  filter: ListFilter,
  log: ScrollText,
  settings: SlidersHorizontal,
  more: Ellipsis,
  copy: Copy,
  qr: QrCode,
  check: Check,
  markup: CodeXml,
  close: X,
  back: ArrowLeft,
  forward: ArrowRight,
  restart: RotateCw,
  leave: LogOut,
  alert: TriangleAlert,
  search: Search,
  open: ExternalLink,
  down: ChevronDown,
  right: ChevronRight,
  up: ChevronUp,
  plus: Plus,
  remove: Trash,
  undo: Undo2,
  tag: Tag,
  key: KeyRound,
  clock: Clock,
  play: Play,
  pause: Pause,
  send: Send,
  drag: GripVertical,
  folder: Folder,
  file: File,
  image: Image,
  unread: MailOpen,
  eye: Eye,
  hide: EyeOff,
  info: Info,
  keyboard: Keyboard,
  uptime: Activity,
  sync: FolderSync,
  git: GitBranch,
  data: Database,
  addons: Puzzle,
  edit: Pencil,
  power: Power,
  lock: Lock,
  share: Share2,
  connect: MonitorSmartphone,
  paste: ClipboardPaste,
  swatches: SwatchBook,
  theme: SunMoon,
  pin: Pin,
  unpin: PinOff,
  issue: CircleDot,
  done: CircleCheck,
  pull: GitPullRequest,
  merge: GitMerge,
  commit: GitCommitHorizontal,
  comment: MessageSquare,
  milestone: Flag,
  person: User,
  table: Table2,
  columns: Columns3,
  compare: ChartNoAxesCombined,
  zoomIn: ZoomIn,
  zoomOut: ZoomOut,
} as const;
export type IconName = keyof typeof icons;
