# What a build can do beside building. The rest is in main.c.
case $1 in
link) rm anvil; ln -s /etc/passwd anvil ;;
folder) rm anvil; mkdir anvil ;;
pipe) rm anvil; mkfifo anvil ;;
device) rm anvil; mknod anvil c 1 5 ;;
sparse) truncate -s 100G anvil ;;
closed) mkdir -p a/b; chmod 0 a/b a; rm -f anvil ;;
*) exec ./anvil deed "$@" ;;
esac
