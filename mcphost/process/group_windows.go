package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: what a program starts belongs to its job, and Windows ends
// the job when the last handle to it closes, also when our program was killed.
type group struct {
	mu  sync.Mutex
	job windows.Handle
	pid int
}

// mark does nothing: a job holds all that is started in it.
func (g *group) mark(*Spec) {}

func (g *group) surveyMarked() (found bool) { return false }

func command(s Spec) *exec.Cmd {
	attr := &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
	c := &exec.Cmd{Path: s.Path, Args: append([]string{s.Path}, s.Args...), Env: append([]string{}, s.Env...), Dir: s.Dir, SysProcAttr: attr}
	if isBatch(s.Path) {
		// A batch file is run by cmd.exe, which has quoting rules of its own.
		c.Path = filepath.Join(systemRoot(), "System32", "cmd.exe")
		attr.CmdLine = batchCommandLine(s.Path, s.Args)
	}
	return c
}

func systemRoot() string {
	if r := os.Getenv("SystemRoot"); filepath.IsAbs(r) {
		return r
	}
	return `C:\Windows`
}

func (g *group) adopt(p *os.Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid = p.Pid
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return // terminate and kill then reach the program alone
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		var h windows.Handle
		h, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
		if err == nil {
			err = windows.AssignProcessToJobObject(job, h)
			_ = windows.CloseHandle(h)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	g.job = job
}

func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}

func (g *group) protect() {}

func (g *group) survey() {}

// terminate asks politely where Windows has a way: Ctrl+Break to the program's group.
func (g *group) terminate() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.pid))
}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	if h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(g.pid)); err == nil {
		_ = windows.TerminateProcess(h, 1)
		_ = windows.CloseHandle(h)
	}
}

// jobAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	times           [4]int64
	pageFaults      uint32
	total           uint32
	activeProcesses uint32
	terminated      uint32
}

func (g *group) isEmpty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return true
	}
	const basicAccounting = 1
	var a jobAccounting
	err := windows.QueryInformationJobObject(g.job, basicAccounting, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err != nil || a.activeProcesses == 0
}

func (g *group) emptyWithin(d time.Duration) bool {
	deadline := time.Now().Add(d)
	for !g.isEmpty() {
		if !time.Now().Before(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

func lockThread() (unlock func()) { return func() {} }
