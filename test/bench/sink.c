// Where the measured aggregators send what they deliver: an HTTP server on 127.0.0.1 that answers each request with 200
// and does nothing with it. Requests for a path that begins with /never are read and not answered, those for one that
// begins with /far after FAR_MS, as by a service across the internet.
//
//   sink PORT                0 for any; says which it has, and at each line of its input how many requests came, how
//                            many were not answered, and the CPU time all of them took
#include "load.h"

enum { most_callers = 4096, FAR_MS = 50 };

struct reader {
  size_t filled;
  // Answers that are on their way belong to one connection, not to the next with its number.
  long connection;
  char text[room + 1];
};

// All are on their way equally long, so that they arrive in the order of their departure.
struct travelling {
  double arrives;
  int fd;
  long connection;
};

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

int main(int words, char **word) {
  if (words != 2) fail("wrong arguments");
  struct reader **readers = room_for(most_callers, sizeof *readers);
  struct epoll_event events[events_at_once];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(word[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), epoll = epoll_create1(EPOLL_CLOEXEC);
  int yes = 1;
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(door, (struct sockaddr *)&address, size) < 0 || listen(door, 1024) < 0) fail("listen");
  getsockname(door, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  watch(epoll, door, door);
  watch(epoll, 0, 0);
  long requests = 0, unanswered = 0, connections = 0;
  struct travelling *road = room_for(most_callers, sizeof *road);
  size_t departed = 0, arrived = 0;
  for (;;) {
    double left = departed == arrived ? -1 : road[arrived % most_callers].arrives - now();
    int ready = epoll_wait(epoll, events, events_at_once, departed == arrived ? -1 : left > 0 ? (int)left + 1 : 0);
    if (ready < 0 && errno != EINTR) fail("epoll_wait");
    for (; arrived < departed && road[arrived % most_callers].arrives <= now(); arrived += 1) {
      struct travelling *each = &road[arrived % most_callers];
      if (readers[each->fd]->connection == each->connection) say(each->fd, answer, sizeof answer - 1);
    }
    for (int at = 0; at < ready; at += 1) {
      int fd = (int)events[at].data.u32;
      if (fd == door) {
        int caller = accept4(door, NULL, NULL, SOCK_CLOEXEC);
        if (caller < 0 || caller >= most_callers) fail("accept");
        setsockopt(caller, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (readers[caller] == NULL) readers[caller] = room_for(1, sizeof **readers);
        readers[caller]->filled = 0;
        readers[caller]->connection = connections += 1;
        watch(epoll, caller, caller);
        continue;
      }
      if (fd == 0) {
        char line[64];
        if (read(0, line, sizeof line) <= 0) return 0;
        printf("{\"requests\":%ld,\"unanswered\":%ld,\"cpuMs\":%.1f}\n", requests, unanswered, cpu_ms());
        fflush(stdout);
        continue;
      }
      struct reader *reader = readers[fd];
      ssize_t got = read(fd, reader->text + reader->filled, room - reader->filled);
      if (got <= 0) {
        reader->connection = 0;
        close(fd);
        continue;
      }
      reader->filled += got;
      if (!is_whole(reader->text, reader->filled)) continue;
      requests += 1;
      reader->filled = 0;
      if (strstr(reader->text, " /never") != NULL) unanswered += 1;
      else if (strstr(reader->text, " /far") != NULL) {
        if (departed - arrived == most_callers) fail("too many are on their way");
        road[departed++ % most_callers] = (struct travelling){now() + FAR_MS, fd, reader->connection};
      } else say(fd, answer, sizeof answer - 1);
    }
  }
}
